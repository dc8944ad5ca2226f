import { expect, test } from 'bun:test'
import {
  backupName,
  isBackupName,
  isLate,
  isOnSameDisk,
  isVerificationDay,
  parseManifest,
  retainedBackups,
  rowProblems,
} from '../../../../src/modules/operations/backup/domain.ts'

const hour = 60 * 60 * 1000
const day = 24 * hour
const at = (text: string) => Date.parse(text)
const backupsAt = (...times: number[]) => times.map((time) => ({ name: backupName(time), at: time }))
const retainedDaysOf = (times: number[], rule: Parameters<typeof retainedBackups>[1]) =>
  [...retainedBackups(backupsAt(...times), rule, Math.max(...times))]
    .sort()
    .map((name) => `${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6, 8)}`)

test('names of backups sort by time', () => {
  const [first, second] = [at('2026-01-06T03:15:20.007Z'), at('2026-11-22T00:00:00.000Z')]
  expect(backupName(first)).toBe('20260106T031520007Z')
  expect(backupName(second) > backupName(first)).toBe(true)
  expect([backupName(second), 'before-restore-1.db', '20260106', '../20260106T031520007Z'].map(isBackupName)).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('of a year of nightly backups, those of seven days, four weeks and six months are retained', () => {
  const nights = Array.from({ length: 365 }, (_, nth) => at('2026-12-31T03:00:00Z') - nth * day)
  expect(retainedDaysOf(nights, { daily: 7, weekly: 4, monthly: 6 })).toEqual([
    ...['2026-07-31', '2026-08-31', '2026-09-30', '2026-10-31', '2026-11-30'],
    // Sundays: a week begins on Monday.
    ...['2026-12-13', '2026-12-20', '2026-12-25', '2026-12-26', '2026-12-27', '2026-12-28', '2026-12-29', '2026-12-30', '2026-12-31'],
  ])
})

test('the last backup of a day counts, except within 24 hours; days without one do not count', () => {
  const noon = at('2026-05-05T12:00:00Z')
  const times = [noon, noon - hour, noon - 30 * day, noon - 30 * day + hour, noon - 300 * day]
  expect([...retainedBackups(backupsAt(...times), { daily: 2, weekly: 0, monthly: 0 }, noon)]).toEqual([
    backupName(noon),
    backupName(noon - hour),
    backupName(noon - 30 * day + hour),
  ])
})

test('the newest backup is retained by any rule', () => {
  expect(retainedBackups(backupsAt(at('2020-01-01T00:00:00Z')), { daily: 0, weekly: 0, monthly: 0 }, Date.now()).size).toBe(1)
  expect(retainedBackups([], { daily: 7, weekly: 4, monthly: 6 }, 0).size).toBe(0)
})

test('a backup from the future is retained, and replaces neither the newest one nor those of its day', () => {
  const now = at('2026-11-23T03:00:00Z')
  const [ahead, today, before] = [at('2030-01-01T00:00:00Z'), now, now - 5 * hour]
  const retained = retainedBackups(backupsAt(ahead, today, before, now - 40 * day), { daily: 1, weekly: 0, monthly: 0 }, now)
  expect([...retained].sort()).toEqual([before, today, ahead].map(backupName))
})

test('a backup retained today was retained yesterday', () => {
  const rule = { daily: 7, weekly: 4, monthly: 6 }
  let backups: { name: string; at: number }[] = []
  for (let night = at('2025-01-01T03:00:00Z'); night < at('2026-06-01T00:00:00Z'); night += day) {
    backups = [...backups, { name: backupName(night), at: night }]
    const retained = retainedBackups(backups, rule, night)
    backups = backups.filter(({ name }) => retained.has(name))
  }
  expect(new Set(backups.map(({ at: time }) => new Date(time).toISOString().slice(0, 7))).size).toBeGreaterThanOrEqual(6)
  expect(backups.length).toBeLessThanOrEqual(17)
  expect(backups.length).toBeGreaterThanOrEqual(14)
})

test('a backup is late after the configured hours since the last one, or since the first was possible', () => {
  expect(isLate(0, 0, 30 * hour, 30)).toBe(false)
  expect(isLate(0, 0, 30 * hour + 1, 30)).toBe(true)
  expect(isLate(undefined, 5 * hour, 30 * hour + 1, 30)).toBe(false)
  expect(isLate(undefined, 5 * hour, 35 * hour + 1, 30)).toBe(true)
})

test('a manifest of another kind, a later version or a truncated one is invalid', () => {
  const manifest = { format: 'souk backup', version: 1, name: '20260106T031520007Z', at: 1, database: { sha256: 'x', bytes: 1, rows: {} } }
  expect(parseManifest(JSON.stringify(manifest))).toMatchObject({ at: 1 })
  for (const other of [
    { ...manifest, version: 2 },
    { ...manifest, format: 'x' },
    { ...manifest, name: '../x' },
    { ...manifest, at: null },
    null,
    [],
  ])
    expect(parseManifest(JSON.stringify(other))).toBeUndefined()
  expect(parseManifest(JSON.stringify(manifest).slice(0, -1))).toBeUndefined()
})

test('differing row counts are named by table, whichever side lacks it', () => {
  expect(rowProblems({ a: 1, b: 2, c: 3 }, { a: 1, b: 3, d: 4 })).toEqual([
    'b: 3 rows instead of 2',
    'c: no rows instead of 3',
    'd: 4 rows instead of none',
  ])
})

test('a document is verified on exactly one of any seven days, and documents on different days', () => {
  const names = Array.from({ length: 700 }, (_, nth) => nth.toString(16).padStart(40, '0'))
  const days = Array.from({ length: 7 }, (_, nth) => at('2026-12-28T00:00:00Z') + nth * day)
  for (const name of names) expect(days.filter((one) => isVerificationDay(one, name)).length).toBe(1)
  const counts = days.map((one) => names.filter((name) => isVerificationDay(one, name)).length)
  expect([Math.min(...counts) > 50, Math.max(...counts) < 200]).toEqual([true, true])
  expect(names.filter((name) => isVerificationDay(days[0] ?? 0, name))).toEqual(
    names.filter((name) => isVerificationDay((days[0] ?? 0) + day - 1, name)),
  )
})

test('a target is on the data disk if both have the same device, and not if a device is unknown', () => {
  const devices: Record<string, number> = { '/data': 1, '/data/copies': 1, '/mnt/other': 2 }
  const deviceOf = (path: string) => devices[path]
  expect(['/data/copies', '/mnt/other', '/closed'].map((place) => isOnSameDisk(place, '/data', deviceOf))).toEqual([true, false, false])
  expect(isOnSameDisk('/closed', '/closed', deviceOf)).toBe(false)
})
