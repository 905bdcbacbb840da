/** The rendering thread: one job at a time, each from its record alone. Started by RenderThreads.ts with a memory limit. */
import { parentPort, threadId, workerData } from "node:worker_threads"
import { giveWay } from "../../engine/giveWay.ts"
import { unpacked } from "../../engine/sealing/packed.ts"
import {
  chunksOnTheWay,
  type FromThread,
  type JobHead,
  type PackedPiece,
  type Piece,
  type Rendering,
  type RenderThreadData,
  type ToThread
} from "./protocol.ts"
import { ProcessorTurns } from "./ProcessorTurns.ts"
import { renderCsv } from "./renderCsv.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of the service")

giveWay("much")

const turns = new ProcessorTurns((workerData as RenderThreadData).turns)
/** Gives up the processor turn while the thread waits for a message. */
const without = async <A>(wait: Promise<A>): Promise<A> => {
  turns.leave(threadId)
  const found = await wait
  turns.take(threadId)
  return found
}

const post = (message: FromThread, transfer: ReadonlyArray<ArrayBuffer> = []): void =>
  // A message to the thread's parent has no target origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(message, [...transfer])

let wanted: ((piece: PackedPiece | null) => void) | null = null
let room: (() => void) | null = null
let onTheWay = 0
const isFull = (): boolean => onTheWay >= chunksOnTheWay

const next = async (): Promise<Piece | null> => {
  const piece = await without(
    new Promise<PackedPiece | null>((resolve) => {
      wanted = resolve
      post({ type: "want" })
    })
  )
  return piece && { ...piece, content: unpacked(piece.content) }
}

const write = async (bytes: Uint8Array): Promise<void> => {
  while (isFull()) await without(new Promise<void>((resolve) => (room = resolve)))
  onTheWay++
  // Copies the bytes, because a buffer from Node's shared pool can't be transferred.
  const own = new Uint8Array(bytes)
  post({ type: "chunk", bytes: own }, [own.buffer])
}

const render = async (head: JobHead): Promise<void> => {
  onTheWay = 0
  const rendering: Rendering = { head, next, write }
  if (head.form === "csv") return renderCsv(rendering)
  const { renderPdf } = await import("./renderPdf.ts")
  return renderPdf(rendering)
}

port.on("message", (message: ToThread) => {
  if (message.type === "piece") {
    const resolve = wanted
    wanted = null
    return resolve?.(message.piece)
  }
  if (message.type === "taken") {
    onTheWay--
    room?.()
    room = null
    return
  }
  turns.take(threadId)
  render(message.head)
    .finally(() => turns.leave(threadId))
    .then(
      () => post({ type: "done" }),
      (error: unknown) => post({ type: "failed", reason: error instanceof Error ? error.message : "unknown" })
    )
})
