class Launcher:
    def __init__(self, name, gpus):
        self.name = name
        self.gpus = gpus
