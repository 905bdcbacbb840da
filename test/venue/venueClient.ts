/** A client of a simulated venue over a real socket, without a library, so that tests see every fault. */
import { type IncomingMessage, request } from "node:http"
import type { Readable } from "node:stream"
import { callSession } from "../../src/venue/callSession.ts"
import type { VenueCommand, VenueView } from "../../src/venue/VenueCommand.ts"

export interface Answer {
  readonly status: number
  /** Undefined if the body is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  readonly text: string
}

/** A line of a stream as received. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Line = any

interface OpenLines {
  /**
   * The next line for which `fits` is true; earlier lines are dropped. Rejects if the stream ends before. A broken line
   * is its text.
   */
  readonly next: (fits?: (line: Line) => boolean) => Promise<Line>
  /** Received lines that were not taken yet. */
  readonly waiting: () => ReadonlyArray<Line>
  /** Completes when the venue or the test ends the stream. */
  readonly ended: Promise<void>
  /** Stops reading from the socket. */
  readonly stall: () => void
  readonly close: () => void
}

export interface OpenStream extends OpenLines {
  readonly status: number
}

export interface OpenSession extends OpenLines {
  /** Sends a line; a text is sent unchanged. */
  readonly say: (line: unknown) => void
}

export class VenueClient {
  readonly url: string
  readonly key: string

  constructor(url: string, key: string) {
    this.url = url
    this.key = key
  }

  /** Sends one request on a connection of its own. Rejects if the connection breaks, or after `timeoutMillis`. */
  ask(path: string, body?: unknown, over: { readonly key?: string; readonly timeoutMillis?: number } = {}) {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body)
    return new Promise<Answer>((resolve, reject) => {
      const asked = request(this.url, {
        path,
        method: text === undefined ? "GET" : "POST",
        agent: false,
        headers: { authorization: `Bearer ${over.key ?? this.key}`, "content-type": "application/json" }
      })
      asked.setTimeout(over.timeoutMillis ?? 20_000, () => asked.destroy(new Error("no answer")))
      asked.on("error", reject)
      asked.on("response", (response) => {
        const pieces: Array<Buffer> = []
        response.on("data", (piece: Buffer) => void pieces.push(piece))
        response.on("error", reject)
        response.on("end", () => {
          const whole = Buffer.concat(pieces).toString("utf8")
          resolve({ status: response.statusCode ?? 0, json: parsed(whole), text: whole })
        })
      })
      asked.end(text)
    })
  }

  async command(command: VenueCommand): Promise<Answer> {
    const answer = await this.ask("/venue/v1/control", command)
    if (answer.status !== 200) throw new Error(`${command.type}: ${answer.status} ${answer.text}`)
    return answer
  }

  async show(): Promise<VenueView> {
    return (await this.ask("/venue/v1/control")).json as VenueView
  }

  /** Opens a session of calls. Rejects with the status of a refusal. */
  session(over: { readonly key?: string; readonly path?: string; readonly protocol?: string } = {}) {
    return new Promise<OpenSession>((resolve, reject) => {
      const asked = request(this.url, {
        path: over.path ?? callSession.path,
        agent: false,
        headers: {
          connection: "Upgrade",
          upgrade: over.protocol ?? callSession.protocol,
          authorization: `Bearer ${over.key ?? this.key}`
        }
      })
      asked.on("error", reject)
      asked.on("response", ({ statusCode }) => reject(new Error(`status ${statusCode}`)))
      asked.on("upgrade", (_, socket, head) => {
        socket.unshift(head)
        const { close, ...lines } = linesOf(socket)
        const say = (line: unknown): void =>
          void socket.write(typeof line === "string" ? line : `${JSON.stringify(line)}\n`)
        resolve({ ...lines, say, close, stall: () => void socket.pause() })
      })
      asked.end()
    })
  }

  /** Opens one of the two streams. Rejects if the connection breaks before an answer arrives. */
  open(path: string): Promise<OpenStream> {
    return new Promise((resolve, reject) => {
      const asked = request(this.url, {
        path,
        agent: false,
        headers: { authorization: `Bearer ${this.key}` }
      })
      asked.on("error", reject)
      asked.on("response", (response) => resolve(streamOf(response)))
      asked.end()
    })
  }
}

const streamOf = (response: IncomingMessage): OpenStream => ({
  status: response.statusCode ?? 0,
  ...linesOf(response)
})

const linesOf = (response: Readable): OpenLines => {
  let rest = ""
  let lines: Array<Line> = []
  let wake = () => {}
  let isEnded = false
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isEnded = true
      wake()
      resolve()
    }
    response.on("close", end)
    // A cut connection ends the stream like a regular end.
    response.on("error", end)
  })
  response.setEncoding("utf8")
  response.on("data", (piece: string) => {
    const parts = (rest + piece).split("\n")
    rest = parts.pop() ?? ""
    lines.push(...parts.map((part) => parsed(part) ?? part))
    wake()
  })
  const next = async (fits: (line: Line) => boolean = () => true): Promise<Line> => {
    for (;;) {
      const at = lines.findIndex(fits)
      if (at >= 0) {
        const [found] = lines.slice(at, at + 1)
        lines = lines.slice(at + 1)
        return found
      }
      if (isEnded) throw new Error("the stream has ended")
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return {
    next,
    waiting: () => lines,
    ended,
    stall: () => void response.pause(),
    close: () => void response.destroy()
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
