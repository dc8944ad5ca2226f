import { expireCarts as expire } from '../src/modules/cart/index.ts'
import type { AppDeps } from '../src/parts.ts'

/** Ends the carts that nobody touched for their time, and clears what they know of a person. */
export const expireCarts = (deps: AppDeps): Promise<void> => expire(deps)
