/**
 * `brokerage serve` in the test's own process, for starts that fail: a separate process takes a second to load the
 * service.
 */
import { Effect } from "effect"
import { servedStatus } from "../../cli/CliIo.ts"
import { serve } from "../../src/main.ts"
import { type Ran, runRecorded } from "../operator/operatorHarness.ts"

/** Serves as cli/main.ts does. Any output other than that of the command line fails the test (silence.ts). */
export const serveHere = (line: ReadonlyArray<string>): Promise<Ran> =>
  runRecorded(line, { serve: (options) => servedStatus(Effect.runPromise(serve(options, Effect.never))) })
