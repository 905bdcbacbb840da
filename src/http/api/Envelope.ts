/**
 * The envelope of every partner answer: {code: 0, data} on success, {code, msg, error, data?} on refusal; bare routes
 * answer their body without it (doc 1, Envelope; A1-03: bare applies to success only).
 */
import { Schema } from "effect"

/** Success with status 200. */
export const ok = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ code: Schema.Literal(0), data }).annotate({ description: "Success." })

/** Success with status 201: the object was created by this request. */
export const created = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ code: Schema.Literal(0), data }).annotate({ description: "Created.", httpApiStatus: 201 })

/** Success of a route that predates the envelope. */
export const bare = <S extends Schema.Top>(schema: S) =>
  schema.annotate({ description: "Success; this route has no envelope." })
