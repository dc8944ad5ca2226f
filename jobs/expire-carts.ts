import type { AppDeps } from '../src/app.ts'
import { expireCarts as expire } from '../src/modules/cart/service.ts'

/** Ends the carts that nobody touched for their time, and clears what they know of a person. */
export const expireCarts = (deps: Pick<AppDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> => expire(deps)
