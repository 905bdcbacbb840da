/**
 * Compliance staff in a simulation: they list persons, import lists, clear the cases that they have read, and move the
 * clients of the reviewed firm through rejected reliance, payout, final refusal and reopening (D1, D2; F26).
 */
import { Effect } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { ListedPerson } from "../../src/machines/screening/ListedPerson.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import type { Verdict } from "../../src/machines/shared/Refusal.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { Documents } from "../../src/runtime/services/clients/document/Documents.ts"
import { Payouts } from "../../src/runtime/services/money/ledger/Payouts.ts"
import { chainOf, type ImportView } from "../../src/runtime/services/screening/importDecisions.ts"
import { ScreeningImports } from "../../src/runtime/services/screening/ScreeningImports.ts"
import { WatchLists } from "../../src/runtime/services/screening/WatchLists.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import type { OperatorDesk } from "./OperatorDesk.ts"
import type { World } from "./World.ts"

/** The source of the lists that are imported here. */
export const importedSource = "SIM-LIST"
/** Entries of one piece of an import. */
const pieceSize = 2

export class ComplianceDesk {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly desk: OperatorDesk
  private versions = 0

  constructor(world: World, desk: OperatorDesk) {
    this.world = world
    this.random = world.fork()
    this.desk = desk
  }

  step(done: () => void): void {
    const draw = this.random.next()
    if (draw < 0.15) return this.list(done)
    if (draw < 0.2) return this.unlist(done)
    if (draw < 0.28) return this.importList(done)
    if (draw < 0.33) return this.deleteDocument(done)
    return draw < 0.55 ? this.clear(done) : this.move(done)
  }

  private get reviewed(): ReadonlyArray<ClientRow> {
    const firms = new Set(this.world.partners.filter(({ reviewed }) => reviewed).map(({ partnerId }) => partnerId))
    return this.world.store.rows("clients").filter(({ partnerId }) => firms.has(partnerId))
  }

  /** A client of the reviewed firm as a watch list would name it; null if there is none. */
  private person(): ListedPerson | null {
    const { random, world } = this
    const own = new Set(this.reviewed.map(({ id }) => id))
    const persons = world.store
      .rows("blockPayloads")
      .filter(({ code, clientId }) => code === "PERSONAL_INFO" && own.has(clientId))
    if (persons.length === 0) return null
    const { first_name, last_name, date_of_birth } = random.pick(persons).data as Readonly<Record<string, string>>
    return {
      list: random.chance(0.7) ? "SANCTIONS" : "PEP",
      name: `${first_name} ${last_name}`,
      dob: date_of_birth ?? null,
      country: null
    }
  }

  private list(done: () => void): void {
    const person = this.person()
    if (person === null) return done()
    const { name, dob, list } = person
    const caller = this.desk.caller()
    const added = Effect.flatMap(WatchLists, (lists) => lists.add(caller, { name, dob: dob ?? "", list }))
    this.desk.settle(
      Effect.map(added, (value): Verdict<unknown> => ({ ok: true, value })),
      done
    )
  }

  private unlist(done: () => void): void {
    const live = this.world.store
      .rows("watchEntries")
      .filter(({ removedAt, importId }) => removedAt === null && importId === null)
    if (live.length === 0) return done()
    const { id } = this.random.pick(live)
    const caller = this.desk.caller()
    this.desk.settle(
      Effect.flatMap(WatchLists, (lists) => lists.remove(caller, id)),
      done
    )
  }

  /** Imports the next version of a published list in pieces. The next import replaces an abandoned one. */
  private importList(done: () => void): void {
    const { desk, random } = this
    const found = Array.from({ length: random.between(0, 2) }, () => this.person()).filter((each) => each !== null)
    const others = Array.from({ length: random.between(1, 3) }, (_, index): ListedPerson => ({
      list: "SANCTIONS",
      name: `Listed Stranger ${"ABCDEFGH"[random.between(0, 7)]}${index}`,
      dob: null,
      country: null
    }))
    const people = [...found, ...others]
    const version = String(++this.versions).padStart(4, "0")
    this.world.auditor.commits.screening.announce(version, people)
    const request = { source: importedSource, version, count: people.length, hash: people.reduce(chainOf, "") }
    const caller = desk.caller()
    const imports = (use: (service: ScreeningImports["Service"]) => ReturnType<ScreeningImports["Service"]["begin"]>) =>
      Effect.flatMap(ScreeningImports, use)
    const goOn = (verdict: Verdict<ImportView> | null, next: (view: ImportView) => void): void =>
      verdict?.ok === true ? next(verdict.value) : done()
    const finish = (importId: number): void =>
      desk.settle(
        imports((service) => service.finish(caller, importId, true)),
        (verdict) => goOn(verdict, ({ status }) => (status === "REMOVING" ? finish(importId) : done()))
      )
    const send = (importId: number, offset: number): void => {
      if (offset >= people.length) return finish(importId)
      desk.settle(
        imports((service) => service.entries(caller, importId, offset, people.slice(offset, offset + pieceSize))),
        (verdict) => goOn(verdict, () => send(importId, offset + pieceSize))
      )
    }
    desk.settle(
      imports((service) => service.begin(caller, request)),
      (verdict) => goOn(verdict, ({ importId, received }) => send(importId, received))
    )
  }

  private deleteDocument(done: () => void): void {
    const live = this.world.store.rows("documents").filter(({ deletedAt }) => deletedAt === null)
    if (live.length === 0) return done()
    const { id } = this.random.pick(live)
    const caller = this.desk.caller()
    this.desk.settle(
      Effect.flatMap(Documents, (documents) => documents.remove(caller, id, "asked for")),
      done
    )
  }

  /** Clears the cases read so far. A case that opens meanwhile stays open. */
  private clear(done: () => void): void {
    const open = this.world.store.rows("cases").filter(({ state }) => state === "OPEN")
    if (open.length === 0) return done()
    const { clientId } = this.random.pick(open)
    const cases = open.filter((row) => row.clientId === clientId).map(({ id }) => id)
    this.world.auditor.commits.review.looked(clientId, cases)
    const caller = this.desk.caller()
    this.desk.settle(
      Effect.flatMap(Compliance, (compliance) =>
        compliance.clear(caller, String(clientId), "another person", { cases })
      ),
      done
    )
  }

  /** Moves one client of the reviewed firm a step further. */
  private move(done: () => void): void {
    const { desk, random } = this
    const clients = this.reviewed.filter(({ state }) => state !== "CLOSED")
    if (clients.length === 0) return done()
    const held = clients.filter(({ level }) => level === "NONE")
    const client = random.pick(held.length > 0 && random.chance(0.6) ? held : clients)
    const caller = desk.caller()
    const on = String(client.id)
    const lifecycle = (use: (service: Lifecycle["Service"]) => ReturnType<Lifecycle["Service"]["reopen"]>) =>
      desk.settle(Effect.flatMap(Lifecycle, use), done)
    const [restriction] = client.context.restrictions
    if (client.state === "KYC_REJECTED") {
      const ends = random.chance(0.25)
      return lifecycle((service) =>
        ends ? service.close(caller, on, "ended") : service.reopen(caller, on, "new papers")
      )
    }
    if (restriction !== undefined && random.chance(0.7))
      return desk.settle(
        Effect.flatMap(Compliance, (compliance) => compliance.lift(caller, on, restriction, "looked at")),
        done
      )
    if (client.level !== "NONE")
      return desk.settle(
        Effect.flatMap(Compliance, (compliance) => compliance.reject(caller, on, "not relied upon")),
        done
      )
    const balance = this.world.store.rows("balances").find(({ clientId, cash }) => clientId === client.id && cash > 0n)
    if (balance !== undefined) return this.payOut(client.id, balance.cash, done)
    return random.chance(0.5) ? lifecycle((service) => service.rejectPerson(caller, on, "refused")) : done()
  }

  /** Pays out all of the cash or a part of it, under a reference that the repetition uses as well. */
  private payOut(clientId: number, cash: bigint, done: () => void): void {
    const { desk, random } = this
    const caller = desk.caller()
    const amount = formatAmount(random.chance(0.5) ? cash : (cash + 3n) / 4n, "USDC")
    const request = { currency: "USDC", amount, reason: "can't ask", reference: `payout-${caller.by.requestId}` }
    const pay = Effect.flatMap(Payouts, (payouts) => payouts.pay(caller, String(clientId), request))
    desk.settle(pay, () => (random.chance(0.4) ? desk.settle(pay, done, 2) : done()))
  }
}
