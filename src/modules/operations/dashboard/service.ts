import type { Deps } from '../../../core/deps.ts'
import { isPictureStore } from '../../../core/documents.ts'
import { isClosed } from '../../../lib/breaker.ts'
import { labelledMetric } from '../../../lib/prometheus.ts'
import type { LendingDocumentDeps } from '../../lending/lending-document/index.ts'
import { type LiveDeps, liveMetrics } from '../../messaging/live-events/index.ts'
import { type MailDeps, mailMetrics, readMailFigures } from '../../messaging/mail/index.ts'
import { readWebhookFigures, type WebhookDeps, webhookMetrics } from '../../messaging/webhook/index.ts'
import { type PaymentDeps, paymentMetrics } from '../../payments/payment/index.ts'
import { isolatedProcessors, type PaymentMethodDeps } from '../../payments/payment-method/index.ts'
import { type OrderDeps, orderMetrics, ordersByStatus, unfinishedOrders } from '../../selling/order/index.ts'
import { type AttestationDeps, chainMetrics, chainStatuses } from '../../trust/attestation/index.ts'
import { type BackupDeps, backupMetrics, isBackupLate } from '../backup/index.ts'
import { type JobDeps, jobLines } from '../job/index.ts'
import { type LogShippingDeps, logShippingMetrics } from '../log-shipping/index.ts'
import { databaseLines, environmentLines, processLines } from './figures.ts'
import type { OperationsDeps } from './providers.ts'
import { operationsStore as store } from './store.ts'

export type Check = { name: string; ok: boolean }

/** Checks whether the instance can work. Returns within about two seconds even if the database hangs. */
export async function readiness(
  deps: Pick<Deps, 'db' | 'diskFree' | 'config' | 'keyring' | 'clock' | 'clockWatch' | 'shared'> &
    Pick<LendingDocumentDeps, 'storeVerdicts'> &
    Pick<BackupDeps, 'backupState' | 'backupPlaces'> &
    Pick<MailDeps, 'mailServer' | 'mailHealth'>,
): Promise<Check[]> {
  const { db, diskFree, config, keyring, clockWatch, shared, storeVerdicts, mailServer, mailHealth } = deps
  const isForeignStore = (ofPictures: boolean) =>
    [...storeVerdicts].some(([kind, verdict]) => isPictureStore(kind) === ofPictures && verdict === 'OTHER')
  const checks = {
    databaseReadable: () => store.isResponding(db.read),
    databaseWritable: () => db.write(store.touch, { isolation: 'locking' }),
    migrationsCurrent: () => store.isMigrated(db.read),
    diskSpace: async () => (diskFree() ?? Number.POSITIVE_INFINITY) >= config.diskFreeMinBytes,
    databaseInPlace: async () => db.isInPlace(),
    keysAtHand: async () => keyring.isKeyFileReadable(),
    clockSteady: async () => clockWatch.isSteady(),
    ...(config.lendingPlatformEnabled ? { documentsAtHand: async () => !isForeignStore(false) } : {}),
    ...([...storeVerdicts.keys()].some(isPictureStore) ? { picturesAtHand: async () => !isForeignStore(true) } : {}),
    ...(db.file && config.backupEnabled ? { backupRecent: async () => !isBackupLate(deps) } : {}),
    ...(mailServer === undefined ? {} : { mailServerAnswers: async () => isClosed(mailHealth.breaker) }),
    ...(shared.state() === 'off' ? {} : { redisReachable: async () => shared.state() === 'here' }),
  }
  return Promise.all(Object.entries(checks).map(async ([name, check]) => ({ name, ok: await store.passes(check) })))
}

type MetricsDeps = Parameters<typeof readiness>[0] &
  LogShippingDeps &
  OperationsDeps &
  Pick<Deps, 'db' | 'build' | 'diskFree' | 'openFiles' | 'shared' | 'clockWatch' | 'errorNotes'> &
  Pick<PaymentMethodDeps, 'breakers' | 'breakersOpened' | 'probeCounts' | 'paymentMethodStore'> &
  Pick<PaymentDeps, 'paymentCounts' | 'processors'> &
  Pick<OrderDeps, 'orderCounts' | 'refundCounts' | 'processors' | 'orderFigures'> &
  WebhookDeps &
  MailDeps &
  Pick<BackupDeps, 'backupState' | 'backupPlaces' | 'clock' | 'config'> &
  Pick<JobDeps, 'jobRunner'> &
  Pick<LiveDeps, 'live'> &
  Pick<AttestationDeps, 'attestationStore' | 'chainNodes' | 'chainFailures' | 'chainLogs' | 'attestedCounts'>

/** Reads the figures that need the database; those that are late are undefined. */
async function readDatabaseFigures(deps: MetricsDeps) {
  const queries = {
    isolated: isolatedProcessors,
    chains: chainStatuses,
    byStatus: ordersByStatus,
    unfinished: unfinishedOrders,
    webhooks: readWebhookFigures,
    mails: readMailFigures,
    bytes: (of: MetricsDeps) => of.serverBytes.get(() => store.bytesOnServer(of.db.read)),
  }
  const results: { -readonly [Name in keyof typeof queries]?: Awaited<ReturnType<(typeof queries)[Name]>> } = {}
  const runQuery = async (name: keyof typeof queries) => {
    Object.assign(results, { [name]: await queries[name](deps) })
    return true
  }
  await Promise.all((Object.keys(queries) as (keyof typeof queries)[]).map((name) => store.passes(() => runQuery(name))))
  return { ...results }
}

/**
 * Builds the Prometheus metrics. Without a database, the figures of this process remain.
 * @param counts figures of the server: requests and event loop delay
 */
export async function metrics(deps: MetricsDeps, ...counts: readonly { lines(): string[] }[]): Promise<string> {
  const { db, breakers } = deps
  const [{ isolated = [], chains = [], byStatus, unfinished, webhooks, mails, bytes }, checks] = await Promise.all([
    readDatabaseFigures(deps),
    readiness(deps),
  ])
  const lines = [
    ...counts.flatMap((of) => of.lines()),
    ...processLines(deps),
    ...databaseLines(db.stats),
    ...paymentMetrics(deps),
    ...orderMetrics(deps, { byStatus, unfinished }),
    ...webhookMetrics(deps, webhooks),
    ...mailMetrics(deps, mails),
    ...labelledMetric('souk_processor_breaker_open', 'Breakers of payment processors, by host. 1: open, no calls pass.', [
      ...breakers.all().map(({ processor, host, breaker }) => ({ labels: { processor, host }, value: isClosed(breaker) ? 0 : 1 })),
    ]),
    ...labelledMetric(
      'souk_processor_breaker_opened_total',
      'How often a breaker of a payment processor opened.',
      deps.breakersOpened.all().map(([processor, value]) => ({ labels: { processor }, value })),
      'counter',
    ),
    ...labelledMetric(
      'souk_processor_probes_total',
      'Probes of payment processors that did not answer.',
      deps.probeCounts.all().map(([label, value]) => {
        const [processor = '', result = ''] = label.split(' ')
        return { labels: { processor, result }, value }
      }),
      'counter',
    ),
    ...labelledMetric('souk_processor_isolated', 'Payment processors that an operator has isolated.', [
      ...isolated.map((processor) => ({ labels: { processor }, value: 1 })),
    ]),
    ...backupMetrics(deps),
    ...logShippingMetrics(deps),
    ...chainMetrics(deps, chains),
    ...jobLines(deps),
    ...liveMetrics(deps),
    ...environmentLines(deps, bytes),
    ...labelledMetric('souk_ready', 'Checks of /health/ready. 1: passes, 0: fails.', [
      ...checks.map(({ name, ok }) => ({ labels: { check: name }, value: ok ? 1 : 0 })),
    ]),
  ]
  return `${lines.join('\n')}\n`
}
