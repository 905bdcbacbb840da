/** Set-up of the files that share a service: the service starts before the first of them in a worker, and ends with the worker. */
import { isShared, share } from "../support/Scenario.ts"
import { startOperatorService } from "./operatorHarness.ts"

if (!isShared()) share(await startOperatorService())
