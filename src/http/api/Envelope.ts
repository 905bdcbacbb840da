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

/** As `ok`, with an example. */
export const okAs = <S extends Schema.Top>(data: S, example: unknown) =>
  ok(data).annotate({ examples: [{ code: 0, data: example }] } as never)

/** Success of a route that predates the envelope, with an example. */
export const bareAs = <S extends Schema.Top>(schema: S, example: unknown) =>
  schema.annotate({ description: "Success; this route has no envelope.", examples: [example] } as never)
