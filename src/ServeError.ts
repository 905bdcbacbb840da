/** The service can't start; the sentence is for the operator (operator surface, Service: exit status 1). */
import { Schema } from "effect"

export class ServeError extends Schema.TaggedError<ServeError>()("ServeError", { sentence: Schema.String }) {
  override get message(): string {
    return this.sentence
  }
}
