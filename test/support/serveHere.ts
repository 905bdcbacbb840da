/** `brokerage serve` in the test's own process, for starts that fail: a process of its own takes a second to load the service. */
import { Effect } from "effect"
import { servedStatus } from "../../cli/CliIo.ts"
import { serve } from "../../src/main.ts"
import { type Ran, runRecorded } from "../operator/operatorHarness.ts"

/** As cli/main.ts does in a process; what is printed beside the command line's own words fails the test (silence.ts). */
export const serveHere = (line: ReadonlyArray<string>): Promise<Ran> =>
  runRecorded(line, { serve: (options) => servedStatus(Effect.runPromise(serve(options, Effect.never))) })
