#error "the file beside the one that includes it goes first"
