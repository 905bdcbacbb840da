/** A board that shows what it is given: tests, simulations, and a service without a venue. */
import { Layer } from "effect"
import { type BoardMarket, MarketBoard } from "./MarketBoard.ts"

/** Null: no venue has spoken. */
export const marketBoardMemory = (
  markets: () => ReadonlyArray<BoardMarket> | null = () => null
): Layer.Layer<MarketBoard> => Layer.succeed(MarketBoard, MarketBoard.of({ markets }))
