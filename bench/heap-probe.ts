/**
 * Preloaded into the souk that `bench/soak.ts` measures: on SIGUSR2 it collects garbage and appends the heap's state as
 * a JSON line to HEAP_PROBE_FILE.
 * With HEAP_PROBE_SNAPSHOTS it also writes a V8 heap snapshot for a browser's memory tab.
 */
import { heapStats } from 'bun:jsc'
import { appendFileSync, writeFileSync } from 'node:fs'

const file = process.env['HEAP_PROBE_FILE'] ?? ''
let snapshots = 0

process.on('SIGUSR2', () => {
  // Twice: the first collection runs finalizers, the second frees the objects that they released.
  Bun.gc(true)
  Bun.gc(true)
  const { heapSize, extraMemorySize, objectCount, objectTypeCounts } = heapStats()
  const { rss, external, arrayBuffers } = process.memoryUsage()
  appendFileSync(file, `${JSON.stringify({ heapSize, extraMemorySize, objectCount, objectTypeCounts, rss, external, arrayBuffers })}\n`)
  if (process.env['HEAP_PROBE_SNAPSHOTS']) writeFileSync(`${file}.${++snapshots}.heapsnapshot`, Bun.generateHeapSnapshot('v8'))
})
