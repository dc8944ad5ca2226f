import { api, ok, type Schema } from '../../lib/api/api.ts'
import { Refused } from '../../lib/api/api-error.ts'
import { usePolling } from '../../lib/api/poll.ts'
import { useResource } from '../../lib/api/resource.ts'
import { percentOfShare } from '../../lib/format/format.ts'
import { cohortName } from '../../lib/format/lending-names.ts'
import { country } from '../../lib/format/names.ts'
import { shop } from '../../lib/session/current-shop.ts'
import { Facts, Note, State, When } from '../../ui/bits.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { File } from './file.tsx'
import { w } from './i18n.ts'
import { GoingLive } from './live.tsx'

type Record = Schema<'KybRecord'>

/** The record, or that there is none yet. */
async function read(signal: AbortSignal): Promise<{ record: Record | undefined }> {
  try {
    return { record: await ok(api.GET('/kyb', { signal })) }
  } catch (refusal) {
    if (refusal instanceof Refused && refusal.status === 404) return { record: undefined }
    throw refusal
  }
}

/** Who is behind the shop, and whether it takes real money. */
export default function Verification() {
  const kyb = useResource(shop.value?.id ?? '', read)
  const status = kyb.data.value?.record?.status
  usePolling(status === 'PENDING', kyb.reload)
  return (
    <Page title={w('title')} subtitle={w('subtitle')}>
      <Loaded of={kyb}>
        {({ record }) => (
          <>
            {record && <Filed of={record} />}
            {(!record || record.status === 'REJECTED') && <File rejected={record} onFiled={(filed) => kyb.put({ record: filed })} />}
            <GoingLive kybStatus={record?.status ?? 'NONE'} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const Filed = ({ of: { status, reason, cohort, legalName, registrationNumber, owners, ...of } }: { of: Record }) => (
  <Section title={w('business')} actions={<State of={status} />}>
    {status === 'PENDING' && <Note>{w('pending')}</Note>}
    {status === 'APPROVED' && <Note tone="good">{w('approved')}</Note>}
    {status === 'REJECTED' && (
      <Note tone="bad">
        {w('rejected')} {reason && <bdi>{`${w('reason')}: ${reason}`}</bdi>}
      </Note>
    )}
    <Facts
      of={[
        [w('legalName'), <bdi key="name">{legalName}</bdi>],
        [w('registrationNumber'), <bdi key="number">{registrationNumber}</bdi>],
        [w('country'), country(of.country)],
        [w('cohort'), cohortName(cohort)],
        [
          w('owners'),
          <ul key="owners" class="bullets">
            {owners.map(({ name, share }, place) => (
              <li key={place}>
                <bdi>{name}</bdi>, {percentOfShare(share)}
              </li>
            ))}
          </ul>,
        ],
        [w('filedAt'), <When key="filed" at={of.createdAt} />],
        [w('decidedAt'), of.decidedAt && <When key="decided" at={of.decidedAt} />],
        ...(status === 'APPROVED' && reason ? [[w('reason'), <bdi key="reason">{reason}</bdi>] as const] : []),
      ]}
    />
  </Section>
)
