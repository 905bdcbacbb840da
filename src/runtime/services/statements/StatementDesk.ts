/** Finance's work on statements of any client: generates, corrects, downloads and proves them (STS-33). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { parseId } from "../../../machines/shared/Ids.ts"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { type StatementRow as StatementWire, statementRowOf } from "../../../machines/statement/Statement.ts"
import type { StatementKind } from "../../../machines/statement/statementTokens.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { PageQuery } from "../../store/paging.ts"
import { sealNumbered } from "../../store/reads/statementLists.ts"
import type { StatementRow } from "../../tables/statement.ts"
import { findClient } from "../account/findClient.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import { firstRow } from "../shared/firstRow.ts"
import { reading } from "./model/Building.ts"
import { StatementFiles } from "./StatementFiles.ts"
import { Statements } from "./Statements.ts"

export interface StatementProof {
  readonly statement: StatementWire
  readonly modelSha256: string
  readonly pdfSha256: string
  readonly sealed: boolean | null
}

type Bytes = Stream.Stream<Uint8Array, Unavailable>

export class StatementDesk extends Context.Service<
  StatementDesk,
  {
    list(
      client: string,
      query: PageQuery & { readonly kind?: StatementKind }
    ): Effect.Effect<
      Verdict<{ readonly statements: ReadonlyArray<StatementWire>; readonly nextBefore: number | null }>,
      DispatchError
    >
    generate(
      caller: OperatorCaller,
      client: string,
      body: unknown
    ): Effect.Effect<Verdict<StatementWire>, DispatchError>
    correct(
      caller: OperatorCaller,
      statementId: number,
      reason: string
    ): Effect.Effect<Verdict<StatementWire>, DispatchError>
    file(statementId: number, format: "json" | "pdf" | "csv"): Effect.Effect<Verdict<Bytes>, DispatchError>
    /** Proves a statement, which is named by its id or by the SHA-256 of its model. */
    prove(named: string): Effect.Effect<Verdict<StatementProof>, DispatchError>
  }
>()("brokerage/runtime/services/statements/StatementDesk") {
  static readonly layer = Layer.effect(
    StatementDesk,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads
      const statements = yield* Statements
      const files = yield* StatementFiles

      const named = (name: string): Effect.Effect<StatementRow | null, Unavailable> => {
        const id = parseId(name)
        if (id !== undefined && name.length < sha256Length) return statements.byId(id)
        if (!/^[0-9a-f]{64}$/.test(name)) return Effect.succeed(null)
        return Effect.gen(function* () {
          const model = yield* firstRow(stored, "statementModels", [{ column: "sha256", value: name }])
          return model === null
            ? null
            : yield* firstRow(stored, "statements", [{ column: "model_id", value: model.id }])
        })
      }

      const proofOf = (row: StatementRow): Effect.Effect<StatementProof, Unavailable> =>
        Effect.gen(function* () {
          const { ledgerSeal } = yield* files.skeleton(row)
          const found = ledgerSeal === null ? null : yield* reading(sealNumbered(sql, ledgerSeal.number))
          return {
            statement: statementRowOf(row.state, row.context),
            modelSha256: yield* hashOf(files.model(row)),
            pdfSha256: yield* hashOf(files.file(row, "pdf")),
            sealed: ledgerSeal === null ? null : found === ledgerSeal.hash
          }
        })

      return StatementDesk.of({
        list: (client, query) =>
          Effect.gen(function* () {
            const found = yield* findClient(host, sql, client)
            if (!found.ok) return found
            const page = yield* statements.list(found.value.partnerId, found.value.id, query)
            return page === null
              ? refuse(unknown("Client"))
              : accept({ statements: page.statements, nextBefore: page.nextBefore })
          }),
        generate: ({ by, role }, client, body) =>
          Effect.gen(function* () {
            const found = yield* findClient(host, sql, client)
            if (!found.ok) return found
            return yield* statements.generateFor({ by, role, correction: null }, found.value, body)
          }),
        correct: ({ by }, statementId, reason) => statements.correct(by, statementId, reason),
        file: (statementId, format) =>
          Effect.map(statements.byId(statementId), (row) =>
            row === null
              ? refuse(unknown("Statement"))
              : accept(format === "json" ? files.model(row) : files.file(row, format))
          ),
        prove: (name) =>
          Effect.gen(function* () {
            const row = yield* named(name)
            return row === null ? refuse(unknown("Statement")) : accept(yield* proofOf(row))
          })
      })
    })
  )
}

const sha256Length = 64

const hashOf = (bytes: Bytes): Effect.Effect<string, Unavailable> =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return Effect.map(
      Stream.runForEach(bytes, (chunk) => Effect.sync(() => void hash.update(chunk))),
      () => hash.digest("hex")
    )
  })
