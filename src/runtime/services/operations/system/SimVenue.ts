/**
 * A tester's commands to the simulated venue, in a sandbox only. A command is sent to the venue once, and audited if
 * the venue has run it or may have run it. A dry run checks that the venue is reachable and has the market, and sends
 * nothing (C1).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { fullSymbol } from "../../../../machines/market/fullSymbol.ts"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { noChange, type VenueCommand, type VenueView } from "../../../../venue/VenueCommand.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { currentDryRun } from "../../../engine/mailbox/dryRun.ts"
import { type CommandAnswer, VenueControl, VenueControlError } from "../../../ports/VenueControl.ts"
import { Venue } from "../../../ports/Venue.ts"
import { Settings } from "../../../Settings.ts"
import { findClient } from "../../account/findClient.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { tradedMarkets } from "../../trading/tradedMarkets.ts"
import { openAccount } from "../../venue/openAccount.ts"
import { describeCommand, venueRefusal } from "./venueTexts.ts"

/** The commands of this service. `sim clock advance` sends `advance`; `execute` and `restart` have methods of their own. */
export type TesterCommand = Exclude<VenueCommand, { readonly type: "advance" | "restart" | "execute" }>

/** A trade that the venue itself initiates for a client, by id or uid (A2-97). */
export interface ExecuteBody extends Omit<Extract<VenueCommand, { readonly type: "execute" }>, "type" | "account"> {
  readonly client: string
}

type Commanded = Effect.Effect<Verdict<CommandAnswer>, DispatchError>

export class SimVenue extends Context.Service<
  SimVenue,
  {
    readonly show: Effect.Effect<Verdict<VenueView>>
    command(caller: OperatorCaller, command: TesterCommand): Commanded
    /** Executes a trade for a client. Opens the client's account at the venue first if there is none. */
    execute(caller: OperatorCaller, request: ExecuteBody): Commanded
    /** Ends the venue's process, and returns once the next process responds. */
    restart(caller: OperatorCaller): Commanded
  }
>()("brokerage/runtime/services/operations/system/SimVenue") {
  static readonly layer = Layer.effect(
    SimVenue,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const control = yield* VenueControl
      const venue = yield* Venue
      const wall = yield* Clock.Clock
      const { sandbox } = yield* Settings
      const sql = yield* PgClient.PgClient
      const { connected } = yield* tradedMarkets

      const audit = (caller: OperatorCaller, command: VenueCommand, end = ""): Effect.Effect<void, DispatchError> =>
        host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) =>
            applyEffects(turn, systemInstance, [
              {
                type: "audit",
                action: `venue.${command.type}`,
                before: null,
                after: `${describeCommand(command)}${end}` || null,
                reason: null
              }
            ])
        })

      /**
       * Runs the command and writes its audit row. If the venue may have run the command, no reply may make the caller
       * retry.
       */
      const carryOut = (
        caller: OperatorCaller,
        command: VenueCommand,
        work: Effect.Effect<CommandAnswer, VenueControlError>
      ): Commanded => {
        const noted = (end?: string) => Effect.mapError(audit(caller, command, end), unsure)
        return work.pipe(
          Effect.map(accept),
          Effect.tap(() => noted()),
          Effect.catchTag("VenueControlError", (error) =>
            Effect.as(
              error.why === "lost" ? noted(", no answer") : Effect.void,
              refuse(venueRefusal(error)) as Verdict<CommandAnswer>
            )
          ),
          Effect.uninterruptible
        )
      }

      /** The result of a dry run. Its audit row is discarded with the run. */
      const rehearse = (caller: OperatorCaller, command: VenueCommand): Commanded =>
        control.show.pipe(
          Effect.flatMap((view): Commanded => {
            const fault = symbolFault(command, view)
            if (fault !== null) return Effect.succeed(refuse(invalidFields({ symbol: fault })))
            return Effect.as(
              audit(caller, command),
              accept({ number: view.number, at: view.at, id: null, ...noChange })
            )
          }),
          Effect.catchTag("VenueControlError", (error) => Effect.succeed(refuse(venueRefusal(error))))
        )

      /** Opens the account at the venue, which trades known accounts only. After a failure here nothing was done. */
      const opened = (account: string): Effect.Effect<void, VenueControlError> =>
        openAccount(
          (request) => venue.write("openAccount", request),
          account,
          () => wall.currentTimeMillisUnsafe()
        ).pipe(
          Effect.mapError(({ reason }) => new VenueControlError({ why: "unreached", detail: reason })),
          Effect.flatMap(({ outcome, reason }) =>
            outcome === "EXECUTED"
              ? Effect.void
              : Effect.fail(new VenueControlError({ why: "refused", detail: reason ?? "it opens no account" }))
          )
        )

      /**
       * Sends a command. After `clear`, which ends the venue's faults, it waits until the service is connected again,
       * so that later commands do not meet a broken connection.
       */
      const straight = (command: VenueCommand): Effect.Effect<CommandAnswer, VenueControlError> => {
        const reached = Effect.gen(function* () {
          while (!connected()) yield* Effect.sleep(pollEvery)
        })
        const done = control.command(command)
        return command.type === "clear" ? Effect.tap(done, () => Effect.timeoutOption(reached, reachedWithin)) : done
      }

      const inSandbox = (run: () => Commanded): Commanded =>
        sandbox ? Effect.suspend(run) : Effect.succeed(sandboxOnly)

      return SimVenue.of({
        show: sandbox
          ? control.show.pipe(
              Effect.map(accept),
              Effect.catch((error) => Effect.succeed(refuse(venueRefusal(error)) as Verdict<VenueView>))
            )
          : Effect.succeed(sandboxOnly),
        command: (caller, given) => {
          const command = withFullSymbol(given)
          return inSandbox(() =>
            currentDryRun() === null ? carryOut(caller, command, straight(command)) : rehearse(caller, command)
          )
        },
        execute: (caller, { client, ...rest }) =>
          inSandbox(() =>
            Effect.flatMap(findClient(host, sql, client), (named): Commanded => {
              if (!named.ok) return Effect.succeed(named)
              const row = named.value
              const command = withFullSymbol({ type: "execute", account: row.uid, ...rest })
              if (currentDryRun() !== null) return rehearse(caller, command)
              const work = Effect.andThen(opened(row.uid), control.command(command))
              return carryOut(caller, command, work)
            })
          ),
        restart: (caller) =>
          inSandbox(() =>
            currentDryRun() === null ? carryOut(caller, restart, restarted(control)) : rehearse(caller, restart)
          )
      })
    })
  )
}

const withFullSymbol = (command: VenueCommand): VenueCommand =>
  "symbol" in command && command.symbol !== null ? { ...command, symbol: fullSymbol(command.symbol) } : command

const restart = { type: "restart" } as const
const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "The venue can be controlled in a sandbox service only."))

/** The venue has run the command, so a failed audit row must not make the caller retry. */
const unsure = (error: DispatchError): DispatchError =>
  error._tag === "Unavailable" ? new Unavailable({ unknown: true }) : error

/** Commands whose symbol may be a staking market. Such a market has no price, and the view does not list it. */
const staking: ReadonlySet<string> = new Set(["offer", "halt", "resume", "delist"])

/** The refusal if the venue lacks the market; null if it has it, or if the command needs no market with a price. */
const symbolFault = (command: VenueCommand, { markets }: VenueView): string | null => {
  if (!("symbol" in command) || command.symbol === null || staking.has(command.type)) return null
  return markets.some(({ symbol }) => symbol === command.symbol)
    ? null
    : "The venue has no market of this name with a price."
}

/** Timeouts of a restart of the venue and of the service's connection, and the interval of checks. */
const backWithin = Duration.seconds(30)
const reachedWithin = Duration.seconds(10)
const pollEvery = Duration.millis(50)

/** Ends the venue's process and waits for the next one. The reply may be lost with the process. */
const restarted = (control: VenueControl["Service"]): Effect.Effect<CommandAnswer, VenueControlError> =>
  Effect.gen(function* () {
    const { startedAt } = yield* control.show
    yield* Effect.catchIf(
      control.command(restart),
      ({ why }) => why === "lost",
      () => Effect.void
    )
    const readView = Effect.catchIf(
      control.show,
      ({ why }) => why !== "foreign",
      () => Effect.succeed(null)
    )
    const back = Effect.gen(function* () {
      for (;;) {
        const view = yield* readView
        if (view !== null && view.startedAt !== startedAt)
          return { number: view.number, at: view.at, id: null, ...noChange, did: "the simulator has restarted" }
        yield* Effect.sleep(pollEvery)
      }
    })
    return yield* Effect.timeoutOrElse(back, {
      duration: backWithin,
      orElse: () => Effect.fail(new VenueControlError({ why: "lost", detail: "it has not come back within 30 s" }))
    })
  })
