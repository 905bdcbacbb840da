/**
 * The atlas: one page with every machine, the objects in each state, and the history of each object. All routes are GETs and
 * change nothing. A signed link admits a browser; afterwards a cookie does, which no script can read and no other site can
 * send. Answers depend on the role of the operator key behind the cookie: names of clients appear only for roles that may
 * read clients (operator surface, atlas).
 */
import { Clock, Effect, Semaphore } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Kind } from "../../../machines/registry.ts"
import { readTimes } from "../../../machines/shared/Limits.ts"
import { type Refusal, unknown as notFound, type Verdict } from "../../../machines/shared/Refusal.ts"
import { Unavailable } from "../../../runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../runtime/engine/clock/BusinessClock.ts"
import { SealingService } from "../../../runtime/engine/sealing/SealingService.ts"
import { withinTime } from "../../../runtime/engine/withinTime.ts"
import { Inspect, type MachineCount } from "../../../runtime/services/operations/operator/Inspect.ts"
import { MachineObjects } from "../../../runtime/services/operations/operator/MachineObjects.ts"
import type { OperatorRole } from "../../../runtime/services/shared/OperatorCaller.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { Directory } from "../../../runtime/services/partners/Directory.ts"
import { mayRun } from "../../api/operator/commands.ts"
import { toWire } from "../../../machines/shared/wireRefusal.ts"
import { atlasPage, closedPage, entrancePage, sent } from "./atlasPage.ts"
import { keyOfTicket, makeTicket, ticketMillis } from "./atlasTickets.ts"
import { nextOf, pathOf } from "./objectPath.ts"

export const atlasPrefix = "/atlas"

/** Browsers accept a cookie with the prefix __Secure- only over TLS. */
const cookieName = "__Secure-atlas"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, Unavailable>

/** Page sizes: objects in a state, and steps of a path. */
const pageSize = 50
const pathSize = 200
/**
 * Counts stay cached for at least this time, because every open page polls them. After a slow read they stay `countsShare`
 * times its duration.
 */
const countsMillis = 1_500
const countsShare = 10

export const makeAtlasApp = Effect.gen(function* () {
  const sealing = yield* SealingService
  const directory = yield* Directory
  const inspect = yield* Inspect
  const settings = yield* Settings
  const objects = yield* MachineObjects
  const business = yield* BusinessClock
  const counts = yield* countsOf(inspect.counts)
  const bounded = yield* boundedReads(json({ msg: "Too many pages ask at once." }, 503))

  const roleOf = (keyId: number | null): OperatorRole | null => {
    const key = keyId === null ? undefined : directory.operatorKeys().find(({ id }) => id === keyId)
    return key === undefined || key.state !== "ACTIVE" ? null : key.role
  }

  const enter = (ticket: string, now: number): HttpServerResponse.HttpServerResponse => {
    const keyId = keyOfTicket(sealing, "link", ticket, now)
    if (keyId === null || roleOf(keyId) === null) return sent(403, closedPage)
    const session = makeTicket(sealing, "session", keyId, now + ticketMillis.session)
    return HttpServerResponse.setHeader(
      sent(200, entrancePage),
      "set-cookie",
      `${cookieName}=${session}; Path=${atlasPrefix}; Max-Age=${ticketMillis.session / 1_000}; HttpOnly; Secure; SameSite=Strict`
    )
  }

  /** Adds the names of the rows' owners that the role may see. */
  const named = Effect.fnUntraced(function* <
    R extends { readonly partnerId: number | null; readonly clientId: number | null }
  >(rows: ReadonlyArray<R>, role: OperatorRole) {
    const ids = rows.flatMap(({ clientId }) => (clientId === null ? [] : [clientId]))
    const clients = mayRun(role, "client show") ? yield* objects.clients(ids) : []
    const partners = mayRun(role, "partner show")
    return rows.map((row) => {
      const client = clients.find(({ clientId }) => clientId === row.clientId) ?? null
      const partnerId = row.partnerId ?? client?.partnerId ?? null
      const partner = partnerId === null || !partners ? null : objects.partner(partnerId)
      return { ...row, partnerId, partner, client }
    })
  })

  const inState = (query: URLSearchParams, role: OperatorRole): Answer =>
    Effect.gen(function* () {
      const after = query.get("after")
      const page = yield* objects.inState(query.get("kind") ?? "", query.get("state") ?? "", {
        limit: pageSize,
        ...(after === null ? {} : { after })
      })
      if (!page.ok) return refused(page.refusal)
      return json({ ...page.value, size: pageSize, instances: yield* named(page.value.instances, role) })
    })

  const one = (query: URLSearchParams, role: OperatorRole): Answer =>
    Effect.gen(function* () {
      const before = Number(query.get("before") ?? Number.NaN)
      const found: Verdict<ObjectRead> = yield* inspect.machine(query.get("kind") ?? "", query.get("id") ?? "", {
        limit: pathSize,
        ...(Number.isSafeInteger(before) && before >= 0 ? { before } : {})
      })
      if (!found.ok) return refused(found.refusal)
      const { history: _, own: __, isNewest: ___, ...object } = found.value
      const related = yield* objects.related(object.kind, object.id, object.subject)
      // The owner of an approval is the owner of its subject.
      const whose = object.kind === "approval" ? related[0]?.subject : undefined
      const [owner] = yield* named([ownerOf(whose ?? object.subject)], role)
      return json({
        ...object,
        path: pathOf(found.value),
        next: nextOf(found.value, settings.fourEyes),
        related,
        owner
      })
    })

  const routes: Readonly<Record<string, (query: URLSearchParams, role: OperatorRole) => Answer>> = {
    [`${atlasPrefix}/counts`]: (_, role) =>
      Effect.map(counts, (machines) => json({ asOf: business.now(), role, machines })),
    [`${atlasPrefix}/instances`]: inState,
    [`${atlasPrefix}/object`]: one
  }

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method !== "GET" && request.method !== "HEAD") return refused(notFound("Page"))
    const [path = "", search = ""] = request.url.split("?", 2)
    const query = new URLSearchParams(search)
    const now = yield* Clock.currentTimeMillis
    const ticket = query.get("ticket")
    if (path === atlasPrefix && ticket !== null) return enter(ticket, now)
    const role = roleOf(keyOfTicket(sealing, "session", request.cookies[cookieName] ?? "", now))
    if (path === atlasPrefix) return role === null ? sent(401, closedPage) : sent(200, atlasPage())
    if (!Object.hasOwn(routes, path)) return refused(notFound("Page"))
    if (role === null) return json({ msg: "This session is over." }, 401)
    const reading = bounded((routes[path] as (typeof routes)[string])(query, role))
    return yield* withinTime(reading, () => new Unavailable({ unknown: false }), readTimes.operator).pipe(
      Effect.catch(() => Effect.succeed(json({ msg: "The database does not answer." }, 503)))
    )
  })
})

type ObjectRead = Parameters<typeof pathOf>[0] & {
  readonly kind: Kind
  readonly id: string
  readonly subject: string
}

const json = (data: unknown, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(data, {
    status,
    headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" }
  })

const refused = (refusal: Refusal): HttpServerResponse.HttpServerResponse => {
  const { status, msg, data } = toWire(refusal)
  return json({ msg, data }, status)
}

/** The client or partner that a mailbox belongs to. */
const ownerOf = (subject: string): { readonly partnerId: number | null; readonly clientId: number | null } => {
  const [kind, id] = subject.split(":")
  return { partnerId: kind === "partner" ? Number(id) : null, clientId: kind === "client" ? Number(id) : null }
}

/** Caches counts for ten times the duration of their read, at least 1.5 s. */
const countsOf = (read: Effect.Effect<ReadonlyArray<MachineCount>, Unavailable>) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    let known: { readonly machines: ReadonlyArray<MachineCount>; readonly until: number } | null = null
    const turn = yield* Semaphore.make(1)
    const refreshed = Effect.suspend(() => {
      const began = clock.currentTimeMillisUnsafe()
      if (known !== null && began < known.until) return Effect.succeed(known.machines)
      return Effect.map(read, (machines) => {
        const ended = clock.currentTimeMillisUnsafe()
        known = { machines, until: ended + Math.max(countsMillis, (ended - began) * countsShare) }
        return machines
      })
    })
    // Only one read runs at a time: callers that wait get its result.
    return turn.withPermits(1)(refreshed)
  })

/** Limits on the database reads of all open pages, running and waiting. The remaining capacity belongs to partners' requests. */
export const pageReads = { atOnce: 4, waiting: 60 } as const

/** Applies the limits of `pageReads`. A read over them gets `refused` immediately, and the page retries. */
export const boundedReads = <A>(
  refused: A
): Effect.Effect<<E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>> =>
  Effect.map(Semaphore.make(pageReads.atOnce), (turn) => {
    let accepted = 0
    return (read) =>
      Effect.suspend(() => {
        if (accepted >= pageReads.atOnce + pageReads.waiting) return Effect.succeed(refused)
        accepted++
        return Effect.ensuring(
          turn.withPermits(1)(read),
          Effect.sync(() => void accepted--)
        )
      })
  })
