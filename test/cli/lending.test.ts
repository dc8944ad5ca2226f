import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { currentRules, ruleVersion, textOfRules } from '../../src/modules/credit/domain.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, servedOnce, souk, withFile } from './souk.ts'

const envelope = (ceilingUsd: number) => `{"tier":"T1","ceilingUsd":${ceilingUsd},"reason":"FORMULA"}`
/** One decision by the rules as they are, of an application for $30,000. */
const fill = (database: string, ceilingUsd = 23_000) =>
  withFile(database, (connection) => {
    connection.run(
      `insert into lending_rule_versions (version, rules, first_used_at) values ('${ruleVersion}', '${textOfRules(currentRules).replaceAll("'", "''")}', 0)`,
    )
    connection.run(
      `insert into lending_applications (id, merchant_id, cohort, tier, status, requested_amount_usd, queued_at, created_by, created_at, updated_at, version)
       select 'loan_1', id, 'US_COMPANY', 'TIER_1_REFERRAL', 'APPROVED', 3000000, 0, id, 0, 0, 1 from users limit 1`,
    )
    connection.run(
      `insert into lending_decisions (id, application_id, decision, assessment, envelope, rule_version, actor, at)
       values ('ldec_1', 'loan_1', 'APPROVED', '{"cohort":"US_COMPANY","monthlyAvgRevenueUsd":10000,"verifiedCollateralUsd":20000,"operationalRisk":"LOW","hardComplianceFlags":null}', '${envelope(ceilingUsd)}', '${ruleVersion}', 'usr_1', 0)`,
    )
  })

describeProcesses('souk lending', () => {
  test('souk lending rules prints the table, and a backtest by it changes nothing', async () => {
    const { dataDir, database } = await servedOnce()
    fill(database)
    const rules = await souk(['lending', 'rules'], temporaryDir())
    expect([rules.status, rules.stderr, JSON.parse(rules.stdout)]).toEqual([0, '', JSON.parse(textOfRules(currentRules))])
    const file = join(temporaryDir(), 'rules.json')
    writeFileSync(file, rules.stdout)
    expect(await souk(['lending', 'backtest', file, '--all'], dataDir)).toEqual({
      status: 0,
      stdout: `ldec_1 of loan_1, APPROVED for $30,000: T1 $23,000 FORMULA, as it was
1 decisions were given figures; 0 would come out otherwise: 0 with a higher ceiling, 0 with a lower one
Tiers: all as they were
Ceilings together: $23,000 → $23,000
Approved for more than the ceiling: 1 → 1
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
        'ldec_1 of loan_1, APPROVED for $30,000: T1 $23,000 FORMULA → T2 $28,000 FORMULA',
        '1 decisions were given figures; 1 would come out otherwise: 1 with a higher ceiling, 0 with a lower one',
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
      stderr: `${file} holds no rules that credit can be judged by:\n  unknown field: cohorts.MN_SOLE.capusd\n  cohorts.MN_SOLE.capUsd: is missing\n`,
    })
  })

  test('souk lending replay says how many came out as they were, and names each that did not with exit status 1', async () => {
    const sound = await servedOnce()
    fill(sound.database)
    expect(await souk(['lending', 'replay'], sound.dataDir)).toEqual({
      status: 0,
      stdout: '1 decisions were judged again, 1 came out as they were, to the byte\n',
      stderr: '',
    })
    const other = await servedOnce()
    fill(other.database, 23_100)
    expect(await souk(['lending', 'replay'], other.dataDir)).toEqual({
      status: 1,
      stdout: '1 decisions were judged again, 0 came out as they were, to the byte\n',
      stderr: `WRONG ldec_1 of loan_1: was ${envelope(23_100)}, and is ${envelope(23_000)}\n`,
    })
  })
})
