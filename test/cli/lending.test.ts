import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { currentRules, rulesText } from '../../src/modules/lending/credit/domain.ts'
import { temporaryDir } from '../support/database.ts'
import { business } from '../support/kyb.ts'
import { uploadedDocuments } from '../support/lending.ts'
import { describeProcesses, logIn, serve, signUp, souk, withFile } from './souk.ts'

const figures = { cohort: 'US_COMPANY', monthlyAvgRevenueUsd: 10_000, verifiedCollateralUsd: 20_000, operationalRisk: 'LOW' }
const envelope = (ceilingUsd: number) => `{"tier":"T1","ceilingUsd":${ceilingUsd},"reason":"FORMULA"}`

/** Creates a stopped instance with an application for $30,000 that was approved over HTTP with these figures. */
async function createDecision() {
  const dataDir = temporaryDir()
  const root = { email: 'root@example.com', password: 'password-of-root' }
  await souk(['setup', '--email', root.email], dataDir, { stdin: root.password })
  await using server = await serve(dataDir, { LENDING_PLATFORM_ENABLED: 'true' })
  const { token } = await signUp(server)
  const operator = await logIn(server, root)
  const post = async (path: string, bearer: string, body: object, method = 'POST') => {
    const answer = await server.call(method, path, { token: bearer, body })
    if (answer.status > 201) throw new Error(`${path} answered ${answer.status}: ${answer.body.message}`)
    return answer.body
  }
  const kyb = await post('/kyb', token, business)
  await post(`/admin/kyb/${kyb.id}/decision`, operator, { decision: 'APPROVED' })
  const { id } = await post('/lending-application', token, {})
  const documentationCompleted = uploadedDocuments({ cohort: 'US_COMPANY', selectedTier1Partner: null })
  await post(`/lending-application/${id}`, token, { requestedAmountUsd: 30_000, documentationCompleted }, 'PATCH')
  await post(`/lending-application/${id}/submit`, token, {})
  await post(`/admin/lending-application/${id}/decision`, operator, { decision: 'APPROVED', assessment: figures })
  await server.end('SIGTERM')
  const database = join(dataDir, 'souk.db')
  const decisionId = withFile(database, (file) => file.query<{ id: string }, []>('select id from lending_decisions').get()?.id)
  return { dataDir, database, decision: `${decisionId} of ${id}` }
}

describeProcesses('souk lending', () => {
  test('souk lending rules prints the rules, and a backtest changes nothing', async () => {
    const { dataDir, decision } = await createDecision()
    const rules = await souk(['lending', 'rules'], temporaryDir())
    expect([rules.status, rules.stderr, JSON.parse(rules.stdout)]).toEqual([0, '', JSON.parse(rulesText(currentRules))])
    const file = join(temporaryDir(), 'rules.json')
    writeFileSync(file, rules.stdout)
    expect(await souk(['lending', 'backtest', file, '--all'], dataDir)).toEqual({
      status: 0,
      stdout: `${decision}, APPROVED for $30,000: T1 $23,000 FORMULA, unchanged
1 decisions with figures, 0 would change: 0 to a higher limit, 0 to a lower limit
Tiers: unchanged
Total of limits (last decision of each application): $23,000 → $23,000
Approved above the limit: 1 → 1
`,
      stderr: '',
    })
    writeFileSync(
      file,
      rules.stdout.replace('"revenueMonths": 1,', '"revenueMonths": 1.5,').replace('"minRevenueTimes": 4', '"minRevenueTimes": 1'),
    )
    const changed = await souk(['lending', 'backtest', file], dataDir)
    expect([changed.status, changed.stdout.split('\n').slice(0, 3)]).toEqual([
      0,
      [
        `${decision}, APPROVED for $30,000: T1 $23,000 FORMULA → T2 $28,000 FORMULA`,
        '1 decisions with figures, 1 would change: 1 to a higher limit, 0 to a lower limit',
        'Tiers: 1 from T1 to T2',
      ],
    ])
    writeFileSync(
      file,
      rules.stdout.replace('"capUsd": 250000', '"capusd": 250000').replace('"revenueFactor": 0.5', '"revenueFactor": 0.8'),
    )
    expect(await souk(['lending', 'backtest', file], dataDir)).toEqual({
      status: 1,
      stdout: '',
      stderr: `${file} contains no valid credit rules:\n  unknown field: cohorts.MN_SOLE.capusd\n  cohorts.MN_SOLE.capUsd: is missing\n`,
    })
  })

  test('souk lending replay counts decisions with the same result, and names each different one with status 1', async () => {
    const { dataDir, database, decision } = await createDecision()
    expect(await souk(['lending', 'replay'], dataDir)).toEqual({
      status: 0,
      stdout: '1 decisions recalculated: 1 identical, 0 different\n',
      stderr: '',
    })
    const forge = `update lending_decisions set envelope = '${envelope(23_100)}'`
    expect(() => withFile(database, (file) => file.run(forge))).toThrow('a decision cannot be changed or removed')
    withFile(database, (file) => file.exec(`drop trigger lending_decisions_unchanged; ${forge}`))
    expect(await souk(['lending', 'replay'], dataDir)).toEqual({
      status: 1,
      stdout: '1 decisions recalculated: 0 identical, 1 different\n',
      stderr: `FAIL  ${decision}: was ${envelope(23_100)}, and is ${envelope(23_000)}\n`,
    })
  })
})
