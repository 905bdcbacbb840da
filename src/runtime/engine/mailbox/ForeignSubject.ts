/**
 * A reader of a subject throws this if the principal may not know of the subject. The host then loads the subject again, as it
 * loads a missing subject on every read, and passes an empty state. So a foreign and a missing subject cause the same answer and
 * the same work (doc 1, Errors 4004).
 */
export class ForeignSubject extends Error {
  constructor() {
    super("the subject is not the reader's")
  }
}
