/**
 * Routes that evaluate each gate of a money write and write nothing (doc 3, Money write gates and Collateral report rules;
 * A3-02, A3-14).
 */
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { explainCollateral } from "./CollateralApi.ts"
import { explainDeposit } from "./DepositsApi.ts"
import { explainWithdrawal } from "./WithdrawalsApi.ts"

export class ExplainApi extends HttpApiGroup.make("explain")
  .add(explainCollateral, explainDeposit, explainWithdrawal)
  .annotateMerge(OpenApi.annotations({ title: "Explain", description: "Why a money write would be refused." })) {}
