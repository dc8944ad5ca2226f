import { foldKpis as fold, recountShops } from '../src/modules/operations/kpi/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Adds what was counted lately to the sums of the dashboards; after an upgrade, what a process of an older version left out of those of shops too. */
export async function foldKpis(deps: AppDeps): Promise<number> {
  const folded = await fold(deps)
  await recountShops(deps)
  return folded
}
