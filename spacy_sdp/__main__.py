from .cli import sdp

if __name__ == "__main__":
    sdp(prog_name="python -m spacy_sdp")
