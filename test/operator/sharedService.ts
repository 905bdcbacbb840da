/** Set-up that starts one service per worker before the worker's first file; the end of the worker stops it. */
import { isShared, share } from "../support/Scenario.ts"
import { startOperatorService } from "./operatorHarness.ts"

if (!isShared()) share(await startOperatorService())
