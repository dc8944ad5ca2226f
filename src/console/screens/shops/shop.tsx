import { useRoute } from 'preact-iso/router'
import { api, ifMatch, pathWith, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
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
                <StatusBadge status={current.data.status} /> <StatusBadge status={current.data.mode} />
              </>
            ),
            actions: <StatusActions current={current} shop={shop} />,
          }
        : {})}
    >
      <ResourceView resource={shop}>{({ data }) => <ShopFacts shop={data} />}</ResourceView>
    </Page>
  )
}

/** Suspends or restores the shop. */
function StatusActions({ current, shop }: { current: Versioned<Shop>; shop: Resource<Versioned<Shop>> }) {
  const { id, title, name } = current.data
  const shortName = truncate(title || name)
  const setStatus = (from: Versioned<Shop>, status: Shop['status']): Promise<Versioned<Shop> | undefined> =>
    saveRecord(shop, from.etag, {
      save: (etag) => readVersioned(api.PATCH('/admin/shops/{id}', { params: { path: { id }, header: ifMatch(etag) }, body: { status } })),
      differences: ({ status: now }) => [[common('status'), stateName(status), stateName(now)]],
      findSaved: (now) => (now.data.status === status ? now : undefined),
    })
  async function suspend(): Promise<void> {
    const isConfirmed = await confirm({
      title: t('suspendOf', { name: shortName }),
      body: <SuspensionEffects />,
      action: t('suspend'),
      danger: true,
    })
    if (!isConfirmed) return
    const suspended = await setStatus(current, 'SUSPENDED')
    if (suspended) notify(t('suspended', { name: shortName }), { subject: id, undo: () => setStatus(suspended, 'ACTIVE') })
  }
  async function restore(): Promise<void> {
    const isConfirmed = await confirm({
      title: t('restoreOf', { name: shortName }),
      body: <p>{t('restoreText')}</p>,
      action: common('restore'),
    })
    if (isConfirmed && (await setStatus(current, 'ACTIVE'))) notify(t('restored', { name: shortName }), { subject: id })
  }
  return current.data.status === 'SUSPENDED' ? (
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
    <BulletList items={stoppedTexts.map((key) => t(key))} />
    <h3>{t('goesOn')}</h3>
    <BulletList items={continuedTexts.map((key) => t(key))} />
  </>
)

const LineList = ({ lines }: { lines: readonly string[] }) => (
  <ul>
    {lines.map((line, index) => (
      <li key={index}>
        <bdi>{line}</bdi>
      </li>
    ))}
  </ul>
)
const optionalText = (value: string | null) => value && <bdi>{value}</bdi>

function ShopFacts({ shop }: { shop: Shop }) {
  const { line1, line2, city, province, postalCode, countryCode } = shop.address
  const address = [line1, line2, city, province, postalCode, countryCode && countryName(countryCode)].filter(
    (line): line is string => !!line,
  )
  return (
    <>
      {shop.status === 'SUSPENDED' && <Note tone="bad">{t('isSuspended')}</Note>}
      <div class="grid">
        <Section title={t('facts')}>
          <FactList
            facts={[
              [t('handle'), <code key="name">{shop.name}</code>],
              ['ID', <CopyableText key="id" text={shop.id} label="ID" />],
              [common('merchant'), <CopyableText key="merchant" text={shop.merchantId} label={common('merchant')} />],
              [t('currency'), shop.currency],
              [common('address.countryCode'), countryName(shop.country)],
              [t('created'), <Moment key="created" at={shop.createdAt} />],
              [t('verified'), shop.verifiedAt ? <Moment key="verified" at={shop.verifiedAt} /> : t('notVerified')],
            ]}
          />
        </Section>
        <Section title={t('contact')}>
          <FactList
            facts={[
              [common('email'), optionalText(shop.contact.email)],
              [common('address.phone'), optionalText(shop.contact.phone)],
              [common('address'), address.length > 0 && <LineList lines={address} />],
              [t('origins'), shop.storefrontOrigins.length > 0 && <LineList lines={shop.storefrontOrigins} />],
            ]}
          />
        </Section>
      </div>
      {shop.description && (
        <Section title={t('description')}>
          <p class="people-text">
            <bdi>{shop.description}</bdi>
          </p>
        </Section>
      )}
      <div class="row">
        <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { shopId: shop.id })} text={common('auditLink')} />
      </div>
    </>
  )
}
