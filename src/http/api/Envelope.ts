/**
 * The envelope of every partner answer: {code: 0, data} on success, {code, msg, error, data?} on refusal. Bare routes have no
 * envelope on success, but have it on refusal (doc 1, Envelope; A1-03).
 */
import { Schema } from "effect"

export const ok = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ code: Schema.Literal(0), data }).annotate({ description: "Success." })

/** The success of a request that created its object (201). */
export const created = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ code: Schema.Literal(0), data }).annotate({ description: "Created.", httpApiStatus: 201 })

/** Success of a route that predates the envelope. */
export const bare = <S extends Schema.Top>(schema: S) =>
  schema.annotate({ description: "Success; this route has no envelope." })
