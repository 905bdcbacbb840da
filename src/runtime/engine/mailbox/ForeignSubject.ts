/**
 * Thrown by a look at a subject that the reader may not know of. The host then reads the subject anew, as it reads one that does not
 * exist on every look, and shows the look an empty state: answer and work are the same for both (doc 1, Errors 4004).
 */
export class ForeignSubject extends Error {
  constructor() {
    super("the subject is not the reader's")
  }
}
