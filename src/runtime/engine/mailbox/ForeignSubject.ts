/**
 * A look throws this if the reader may not know of the subject. The host then loads the subject again, as it loads a missing
 * subject on every look, and gives the look an empty state. A foreign and a missing subject so cause the same answer and the same
 * work (doc 1, Errors 4004).
 */
export class ForeignSubject extends Error {
  constructor() {
    super("the subject is not the reader's")
  }
}
