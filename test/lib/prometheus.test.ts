import { expect, test } from 'bun:test'
import { counter, gauge } from '../../src/lib/prometheus.ts'

test('a figure is written with its help and its type before it', () => {
  expect(gauge('souk_up', 'Whether it is up.', 1)).toEqual(['# HELP souk_up Whether it is up.', '# TYPE souk_up gauge', 'souk_up 1'])
  expect(counter('souk_done_total', 'How many.', 2)).toEqual([
    '# HELP souk_done_total How many.',
    '# TYPE souk_done_total counter',
    'souk_done_total 2',
  ])
})
