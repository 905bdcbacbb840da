/**
 * Finds the client of a venue account. Requests that arrive during a read share the next read. The venue may publish
 * events of every account at the same moment, and one query per account would take all database connections from the
 * callers.
 */
import { Effect, Exit, Latch } from "effect"
import type { DispatchError } from "../../engine/mailbox/ActorHost.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import type { RowReads } from "../../ports/RowReads.ts"

/** The most accounts in the cache. */
const accountsKept = 100_000
/** The most accounts of one read. */
const readAtOnce = 64

type Found = Effect.Effect<number | null, DispatchError>

export class AccountClients {
  private readonly stored: Pick<RowReads["Service"], "clientIds">
  private readonly known = new Map<string, number>()
  /** The waiting callers by account, in order of arrival. */
  private readonly waiting = new ShortLivedMap<string, Array<(found: Found) => void>>()
  private readonly work = Latch.makeUnsafe(false)

  constructor(stored: Pick<RowReads["Service"], "clientIds">) {
    this.stored = stored
  }

  /** The client of an account; null: no client has it. */
  of(account: string): Found {
    return Effect.suspend(() => {
      const found = this.known.get(account)
      return found === undefined ? this.load(account) : Effect.succeed(found)
    })
  }

  private load(account: string): Found {
    return Effect.callback((resume) => {
      const others = this.waiting.get(account)
      if (others === undefined) this.waiting.set(account, [resume])
      else others.push(resume)
      this.work.openUnsafe()
    })
  }

  /** Reads the clients of the requested accounts, in an endless loop. */
  readonly run: Effect.Effect<void> = Effect.suspend(() => this.work.await).pipe(
    // The pause lets requests of the same moment join this read.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(
      Effect.suspend(() => {
        const accounts = [...this.waiting.keys()].slice(0, readAtOnce)
        return Effect.map(Effect.exit(this.stored.clientIds(accounts)), (found) => {
          for (const account of accounts) this.answer(account, found)
          if (this.waiting.size === 0) this.work.closeUnsafe()
        })
      })
    )
  )

  private answer(account: string, found: Exit.Exit<ReadonlyMap<string, number>, DispatchError>): void {
    const answer = Exit.map(found, (ids) => this.keep(account, ids.get(account)))
    const waiting = this.waiting.get(account) ?? []
    this.waiting.delete(account)
    for (const resume of waiting) resume(answer)
  }

  private keep(account: string, clientId: number | undefined): number | null {
    if (clientId === undefined) return null
    if (this.known.size >= accountsKept) this.known.delete(this.known.keys().next().value as string)
    this.known.set(account, clientId)
    return clientId
  }
}
