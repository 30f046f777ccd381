"""What readers take home: notebooks, data, the package, and the page that lists them."""
