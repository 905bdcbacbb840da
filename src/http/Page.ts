/**
 * A public text that never changes while the process runs. Its bytes are made once, each compressed form at its first
 * request, and each form has an ETag (doc 1, What the service does; RFC 9110, 8.8.3, 12.5.3 and 13.1.2).
 */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"

/** The request headers that select the response: Accept-Encoding and If-None-Match. */
export interface PageRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A page in one content coding, with its ETag. */
interface Form {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

type Coding = "br" | "gzip"

/** Compressors with moderate levels: higher levels take seconds for a page of megabytes. */
const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes) => promisify(gzip)(bytes)
}

/** Size of the pieces that are written to a connection. It bounds the memory that a slow reader holds. */
const pieceBytes = 64 * 1024
/** Seconds that a browser may use a page without revalidation. */
const freshSeconds = 300

export class Page {
  private readonly plain: Form
  private readonly compressed = new Map<Coding, Promise<Form>>()
  private readonly headers: Readonly<Record<string, string>>
  private readonly compress: (coding: Coding, bytes: Buffer) => Promise<Buffer>
  private readonly tag: string

  /** `headers` are sent with every answer of this page. */
  constructor(
    text: string,
    headers: Readonly<Record<string, string>> & { readonly "content-type": string },
    compress: (coding: Coding, bytes: Buffer) => Promise<Buffer> = (coding, bytes) => compressors[coding](bytes)
  ) {
    const bytes = Buffer.from(text)
    this.tag = hash("sha256", bytes, "base64url").slice(0, 27)
    this.headers = { ...headers, "cache-control": `public, max-age=${freshSeconds}`, vary: "Accept-Encoding" }
    this.compress = compress
    this.plain = { bytes, headers: { etag: `"${this.tag}"` } }
  }

  /**
   * Answers 200 with the page in the best coding that the request allows, or 304 when the caller has the page already.
   * `refused` runs before a body is sent; a refusal from it is sent instead.
   */
  answer(
    { method, headers: sent }: PageRequest,
    refused: () => HttpServerResponse.HttpServerResponse | null
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const coding = codingOf(sent["accept-encoding"])
    const etag = this.tagOf(coding)
    if (matches(sent["if-none-match"], etag)) {
      const { "content-type": _, ...headers } = this.headers
      return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: { ...headers, etag } }))
    }
    const refusal = method === "HEAD" ? null : refused()
    if (refusal !== null) return Effect.succeed(refusal)
    return Effect.map(
      coding === null ? Effect.succeed(this.plain) : Effect.promise(() => this.formOf(coding)),
      ({ bytes, headers }) =>
        HttpServerResponse.stream(pieces(bytes), {
          headers: { ...this.headers, ...headers },
          contentLength: bytes.length
        })
    )
  }

  private tagOf(coding: Coding | null): string {
    return coding === null ? `"${this.tag}"` : `"${this.tag}-${coding}"`
  }

  private formOf(coding: Coding): Promise<Form> {
    const known = this.compressed.get(coding)
    if (known !== undefined) return known
    const made = this.compress(coding, this.plain.bytes).then((bytes) => ({
      bytes,
      headers: { etag: this.tagOf(coding), "content-encoding": coding }
    }))
    this.compressed.set(coding, made)
    return made
  }
}

/** Emits the pieces one at a time, because Effect would join a chunk of pieces into a copy of the whole page. */
const pieces = (bytes: Buffer): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
      bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes)
    )
  ).pipe(Stream.rechunk(1))

/** The best coding that Accept-Encoding allows; null for uncompressed. */
const codingOf = (header: string | undefined): Coding | null => {
  const weights = new Map<string, number>()
  for (const item of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith("q="))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  const takes = (name: string): boolean => (weights.get(name) ?? weights.get("*") ?? 0) > 0
  return takes("br") ? "br" : takes("gzip") ? "gzip" : null
}

/** Whether If-None-Match matches an ETag; weak comparison (RFC 9110, 8.8.3.2). */
const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(",").some((item) => item.trim() === "*" || item.trim().replace(/^W\//, "") === etag)
