/** Runs two random stories of platforms, shoppers and shops; `model.heavy.ts` runs many. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { checkAgentModel, createAgentFixture } from '../../support/agent-model.ts'
import type { ModelFixture } from '../../support/selling-model.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

let ground: ModelFixture | undefined
afterAll(() => ground?.database.drop())

test('in two random stories, charges the total that was shown, once, and isolates the checkouts of platforms', async () => {
  ground = await createAgentFixture()
  const eventCounts = await checkAgentModel(ground, { seed: 20_260_825, runs: 2 })
  expect(eventCounts.size).toBeGreaterThan(10)
})
