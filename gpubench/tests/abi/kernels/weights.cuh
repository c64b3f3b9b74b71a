#define RED 0.2126f
#define GREEN 0.7152f
#define BLUE 0.0722f
