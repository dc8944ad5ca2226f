/** Checks the alerts and the dashboard of docs/ against their documentation and with Prometheus' tools. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promtool, runPromtool } from './support/promtool.ts'
import { longTestMs } from './support/timeouts.ts'

setDefaultTimeout(longTestMs)

const docs = join(import.meta.dir, '../docs')
const read = (name: string) => readFileSync(join(docs, name), 'utf8')

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string; runbook: string } }
type Case = { name: string; promql_expr_test: { expr: string; exp_samples: { value: number }[] }[] }
const { rules } = (Bun.YAML.parse(read('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups[0] ?? { rules: [] }
const { tests } = Bun.YAML.parse(read('alerts.test.yaml')) as { tests: Case[] }
const names = rules.map(({ alert }) => alert)

test('every alert has a section in docs/operations.md, a known severity and a unique name', () => {
  const sections = [...read('operations.md').matchAll(/^### (Souk\w+)\n\n\S/gm)].map(([, name]) => name)
  expect(sections).toEqual(names)
  expect(new Set(names).size).toBe(names.length)
  for (const { alert, labels, annotations } of rules) {
    expect([alert, annotations.runbook]).toEqual([alert, `docs/operations.md#${alert.toLowerCase()}`])
    expect([alert, ['critical', 'warning'].includes(labels.severity)]).toEqual([alert, true])
    expect(annotations.summary.length).toBeGreaterThan(10)
  }
})

test('every alert has a case in which it fires, and one in which it does not', () => {
  for (const [name, value] of [
    ['fires', 1],
    ['is quiet', 0],
  ] as const) {
    const cases = tests.find((one) => one.name === name)?.promql_expr_test ?? []
    expect(
      cases.map(({ expr, exp_samples: [sample] }) => [/alertname="(\w+)",alertstate="firing"/.exec(expr)?.[1], sample?.value]),
    ).toEqual(names.map((alert) => [alert, value]))
  }
})

type Panel = {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}
const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  schemaVersion: number
  panels: Panel[]
  templating: { list: { name: string; type: string }[] }
}
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))

test('the dashboard can be imported: it queries the selected data source, and no panels overlap', () => {
  expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36)
  expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['job', 'query'],
    ['instance', 'query'],
  ])
  const sources = [...JSON.stringify(dashboard).matchAll(/"uid":"([^"]*)"/g)].map(([, uid]) => uid).filter((uid) => uid !== 'souk')
  expect(new Set(sources)).toEqual(new Set([`\${datasource}`]))
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  const takenCells = new Set<string>()
  for (const { title, gridPos: at } of dashboard.panels)
    for (let x = at.x; x < at.x + at.w; x++)
      for (let y = at.y; y < at.y + at.h; y++) {
        expect([title, x < 24, takenCells.has(`${x} ${y}`)]).toEqual([title, true, false])
        takenCells.add(`${x} ${y}`)
      }
})

const skipped = promtool === undefined
const why = 'skipped without promtool: install the Debian package prometheus, or set PROMTOOL'

test.skipIf(skipped)(`the alerts fire in promtool's test cases when they should, and not otherwise (${why})`, async () => {
  expect(await runPromtool(['check', 'rules', '--lint-fatal', join(docs, 'alerts.yaml')])).toMatchObject({ status: 0 })
  expect(await runPromtool(['test', 'rules', join(docs, 'alerts.test.yaml')])).toMatchObject({ status: 0 })
})

test.skipIf(skipped)(`the queries of the dashboard are valid (${why})`, async () => {
  const withoutVariables = (expr: string) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/"\$\w+"/g, '".+"')
  const rule = ({ expr }: { expr: string }, at: number) => ({ record: `souk:panel:${at}`, expr: withoutVariables(expr) })
  // JSON is valid YAML.
  const file = JSON.stringify({ groups: [{ name: 'panels', rules: queries.map(rule) }] })
  expect(await runPromtool(['check', 'rules', '/dev/stdin'], file)).toMatchObject({ status: 0 })
})
