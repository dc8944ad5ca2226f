import { useRoute } from 'preact-iso/router'
import { api, ifMatch, pathWith, readVersioned, type Schema } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { countryName } from '../../lib/format/names.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { BulletList } from '../../ui/bullet-list.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { saveRecord } from '../../ui/save-versioned.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

type Shop = Schema<'AdminShop'>
type VersionedShop = { readonly data: Shop; readonly etag: string }

/** A shop of the instance. */
export default function OneShop() {
  const id = useRoute().params['id'] ?? ''
  const shop = useResource(id, (signal) => readVersioned(api.GET('/admin/shops/{id}', { params: { path: { id } }, signal })))
  useLiveReload(['shop.*'], shop.reload, ({ data }) => data['shopId'] === undefined || data['shopId'] === id)
  const current = shop.data.value
  return (
    <Page
      title={current ? current.data.title || current.data.name : common('shop')}
      back={{ href: operatorPath('shops'), text: common('shops') }}
      {...(current
        ? {
            subtitle: (
              <>
                <StatusBadge of={current.data.status} /> <StatusBadge of={current.data.mode} />
              </>
            ),
            actions: <StatusActions of={current} shop={shop} />,
          }
        : {})}
    >
      <ResourceView of={shop}>{({ data }) => <ShopFacts of={data} />}</ResourceView>
    </Page>
  )
}

/** Suspends or restores the shop. */
function StatusActions({ of, shop }: { of: VersionedShop; shop: Resource<VersionedShop> }) {
  const { id, title, name } = of.data
  const called = truncate(title || name)
  const move = (from: VersionedShop, status: Shop['status']): Promise<VersionedShop | undefined> =>
    saveRecord(shop, from.etag, {
      save: (etag) => readVersioned(api.PATCH('/admin/shops/{id}', { params: { path: { id }, header: ifMatch(etag) }, body: { status } })),
      differences: ({ status: now }) => [[common('status'), stateName(status), stateName(now)]],
      done: (now) => (now.data.status === status ? now : undefined),
    })
  async function suspend(): Promise<void> {
    const sure = await confirm({ title: t('suspendOf', { name: called }), body: <SuspensionEffects />, action: t('suspend'), danger: true })
    if (!sure) return
    const suspended = await move(of, 'SUSPENDED')
    if (suspended) notify(t('suspended', { name: called }), { about: id, undo: () => move(suspended, 'ACTIVE') })
  }
  async function restore(): Promise<void> {
    const sure = await confirm({ title: t('restoreOf', { name: called }), body: <p>{t('restoreText')}</p>, action: common('restore') })
    if (sure && (await move(of, 'ACTIVE'))) notify(t('restored', { name: called }), { about: id })
  }
  return of.data.status === 'SUSPENDED' ? (
    <Button kind="primary" onPress={restore} text={common('restore')} />
  ) : (
    <Button kind="danger" onPress={suspend} text={t('suspend')} />
  )
}

const stoppedTexts = ['stopPages', 'stopSales'] as const
const continuedTexts = ['onBegun', 'onMerchant', 'onCustomers'] as const

/** Lists what a suspension stops and what continues. */
const SuspensionEffects = () => (
  <>
    <h3>{t('stops')}</h3>
    <BulletList of={stoppedTexts.map((one) => t(one))} />
    <h3>{t('goesOn')}</h3>
    <BulletList of={continuedTexts.map((one) => t(one))} />
  </>
)

const LineList = ({ of }: { of: readonly string[] }) => (
  <ul>
    {of.map((line, at) => (
      <li key={at}>
        <bdi>{line}</bdi>
      </li>
    ))}
  </ul>
)
const text = (value: string | null) => value && <bdi>{value}</bdi>

function ShopFacts({ of }: { of: Shop }) {
  const { line1, line2, city, province, postalCode, countryCode } = of.address
  const address = [line1, line2, city, province, postalCode, countryCode && countryName(countryCode)].filter(
    (line): line is string => !!line,
  )
  return (
    <>
      {of.status === 'SUSPENDED' && <Note tone="bad">{t('isSuspended')}</Note>}
      <div class="grid">
        <Section title={t('facts')}>
          <FactList
            of={[
              [t('handle'), <code key="name">{of.name}</code>],
              ['ID', <CopyableText key="id" text={of.id} label="ID" />],
              [common('merchant'), <CopyableText key="merchant" text={of.merchantId} label={common('merchant')} />],
              [t('currency'), of.currency],
              [common('address.countryCode'), countryName(of.country)],
              [t('created'), <Moment key="created" at={of.createdAt} />],
              [t('verified'), of.verifiedAt ? <Moment key="verified" at={of.verifiedAt} /> : t('notVerified')],
            ]}
          />
        </Section>
        <Section title={t('contact')}>
          <FactList
            of={[
              [common('email'), text(of.contact.email)],
              [common('address.phone'), text(of.contact.phone)],
              [common('address'), address.length > 0 && <LineList of={address} />],
              [t('origins'), of.storefrontOrigins.length > 0 && <LineList of={of.storefrontOrigins} />],
            ]}
          />
        </Section>
      </div>
      {of.description && (
        <Section title={t('description')}>
          <p class="people-text">
            <bdi>{of.description}</bdi>
          </p>
        </Section>
      )}
      <div class="row">
        <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { shopId: of.id })} text={common('auditLink')} />
      </div>
    </>
  )
}
