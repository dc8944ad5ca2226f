import { foldKpis as fold, recountShops } from '../src/modules/operations/kpi/index.ts'
import type { AppDeps } from '../src/providers.ts'

/**
 * Folds recent deltas into the dashboards' sums. After an upgrade, also counts what older processes missed of shops.
 */
export async function foldKpis(deps: AppDeps): Promise<number> {
  const folded = await fold(deps)
  await recountShops(deps)
  return folded
}
