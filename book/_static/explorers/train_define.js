/* The numerics of training. A file of them hands `define` one function, which adds to the numerics
   `N`; its source is kept too, so that a worker can be made of it without a file: from file:// a
   browser loads none. */
(X => {
  "use strict";
  X.training = {N: {models: {}}, sources: []};
  X.define = body => {
    X.training.sources.push(body.toString());
    body(X.training.N);
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
