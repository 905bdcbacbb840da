/**
 * The bound on what uploads hold in memory while they are judged, sealed and written: bodies are counted elsewhere, and
 * only while they arrive (architecture 8). An upload that finds no room has been received in full, so it waits a while
 * before its caller is asked to come back: first come, first served, but nobody waits for a partner that has its share.
 */
import { Effect } from "effect"
import { bodyCaps } from "../../../../machines/shared/Limits.ts"
import { Unavailable } from "../../../engine/mailbox/ActorHost.ts"

export interface DocumentRoomOptions {
  /** Characters of base64 held at once, by all and by one partner; the longest content fits either. */
  readonly capacity?: number
  readonly share?: number
  /** Characters that may wait, of all and of one partner. What is beyond is asked to come back at once. */
  readonly waiting?: number
  readonly waitingShare?: number
  /** Wall milliseconds. */
  readonly waitMillis?: number
}

interface Upload {
  readonly partnerId: number
  readonly size: number
  granted: boolean
  readonly wake: () => void
}

const full = bodyCaps.documentBase64

/** Two amounts: of all partners together, and of each. */
class Tally {
  private sum = 0
  private readonly parts = new Map<number, number>()

  fits({ partnerId, size }: Upload, most: number, share: number): { readonly all: boolean; readonly own: boolean } {
    return { all: this.sum + size <= most, own: (this.parts.get(partnerId) ?? 0) + size <= share }
  }

  add({ partnerId }: Upload, size: number): void {
    const part = (this.parts.get(partnerId) ?? 0) + size
    if (part === 0) this.parts.delete(partnerId)
    else this.parts.set(partnerId, part)
    this.sum += size
  }
}

export class DocumentRoom {
  private readonly options: Required<DocumentRoomOptions>
  private readonly held = new Tally()
  private readonly queued = new Tally()
  private readonly queue = new Set<Upload>()

  constructor(options: DocumentRoomOptions = {}) {
    this.options = {
      capacity: 4 * full,
      share: 2 * full,
      waiting: 8 * full,
      waitingShare: 4 * full,
      waitMillis,
      ...options
    }
  }

  /** Runs an upload's work once there is room for its content; Unavailable when there was none in time. */
  within<A, E>(partnerId: number, size: number, work: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> {
    return Effect.suspend(() => {
      let wake = (): void => {}
      const upload: Upload = { partnerId, size, granted: false, wake: () => wake() }
      if (!this.enter(upload)) return Effect.fail(new Unavailable({ unknown: false }))
      const wait = Effect.callback<boolean>((resume) => {
        if (upload.granted) return resume(Effect.succeed(true))
        const timer = setTimeout(() => resume(Effect.succeed(upload.granted)), this.options.waitMillis)
        wake = () => {
          clearTimeout(timer)
          resume(Effect.succeed(true))
        }
        return Effect.sync(() => clearTimeout(timer))
      })
      return Effect.ensuring(
        Effect.flatMap(wait, (granted): Effect.Effect<A, E | Unavailable> =>
          granted ? work : Effect.fail(new Unavailable({ unknown: false }))
        ),
        Effect.sync(() => this.leave(upload))
      )
    })
  }

  /** Queues an upload, which may get its room at once; false when the queue itself is full. */
  private enter(upload: Upload): boolean {
    this.queue.add(upload)
    this.queued.add(upload, upload.size)
    this.grant()
    if (upload.granted) return true
    const fits = this.queued.fits({ ...upload, size: 0 }, this.options.waiting, this.options.waitingShare)
    if (fits.all && fits.own) return true
    this.leave(upload)
    return false
  }

  private leave(upload: Upload): void {
    if (upload.granted) this.held.add(upload, -upload.size)
    else this.unqueue(upload)
    this.grant()
  }

  private unqueue(upload: Upload): void {
    if (this.queue.delete(upload)) this.queued.add(upload, -upload.size)
  }

  /** In order of arrival: who has its share is passed over, but nobody overtakes one that waits for room. */
  private grant(): void {
    for (const upload of this.queue) {
      const { all, own } = this.held.fits(upload, this.options.capacity, this.options.share)
      if (!own) continue
      if (!all) return
      this.unqueue(upload)
      this.held.add(upload, upload.size)
      upload.granted = true
      upload.wake()
    }
  }
}

const waitMillis = 5_000
