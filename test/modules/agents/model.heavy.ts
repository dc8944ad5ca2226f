/** Runs many random stories of platforms, shoppers and shops that use the same checkouts; see `agent-model.ts`. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../../db/columns.ts'
import { checkAgentModel, createAgentFixture } from '../../support/agent-model.ts'
import type { ModelFixture } from '../../support/selling-model.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_260_408)
const runs = Number(Bun.env['FUZZ_RUNS'] ?? (engine === 'sqlite' ? 60 : 20))

let ground: ModelFixture | undefined
afterAll(() => ground?.database.drop())

test('charges the total that was shown, once, and isolates the checkouts of platforms', async () => {
  ground = await createAgentFixture()
  const eventCounts = await checkAgentModel(ground, { seed, runs })
  if (Bun.env['FUZZ_PRINT']) for (const [event, times] of eventCounts) process.stderr.write(`${times} × ${event}\n`)
  const expectedEvents = [
    'complete_checkout 200 completed',
    'complete_checkout 200 ready_for_complete',
    'complete_checkout 409 session_closed',
    'order of platform',
    'order of page',
    'order of storefront',
    'compared completed',
    'compared canceled',
    'killed',
    'key with another body',
    'repeated answer',
    'stolen id',
  ]
  expect(expectedEvents.filter((event) => !eventCounts.has(event))).toEqual([])
})
