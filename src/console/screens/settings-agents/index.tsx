import { api, ifMatch, ok, readVersioned, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { session } from '../../lib/session/session.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { CheckField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { type AgentSettings, type AgentTexts, agentsBody, offers, offersIn, policyTypes, textsOfAgents } from './agents.domain.ts'
import { t } from './i18n.ts'

/** Settings for shopping by agents. */
export default function Agents() {
  return (
    <Page title={common('agents')} subtitle={t('subtitle')}>
      {session.value?.features.includes('AGENTS') ? <ShopAgents /> : <EmptyState title={t('offTitle')} text={t('offText')} />}
    </Page>
  )
}

function ShopAgents() {
  const settings = useResource('', (signal) => readVersioned(api.GET('/shops/v2/agents', { signal })))
  return (
    <ResourceView resource={settings} lines={8}>
      {(current) => (
        <>
          <SettingsForm current={current} resource={settings} />
          {current.data.enabled && (
            <>
              <Addresses settings={current.data} />
              <Offers settings={current.data} />
              <Keys settings={current.data} onRotated={settings.reload} />
            </>
          )}
        </>
      )}
    </ResourceView>
  )
}

/** Returns the settings as rows, for conflicts. */
const settingRows = (values: AgentTexts): readonly (readonly [string, string])[] => [
  [t('enabled'), t(values.enabled ? 'offered' : 'notOffered')],
  [t('access'), t(`access.${values.access}`)],
  ...policyTypes.map((type) => [t(`policy.${type}`), values[type]] as const),
]

function SettingsForm({ current, resource }: { current: Versioned<AgentSettings>; resource: Resource<Versioned<AgentSettings>> }) {
  const editor = useRecordEditor(resource, current, textsOfAgents)
  async function save(): Promise<void> {
    const input = editor.values()
    const body = agentsBody(input, editor.base().data)
    const saved = await editor.save({
      save: (version) => readVersioned<AgentSettings>(api.PUT('/shops/v2/agents', { params: { header: ifMatch(version) }, body })),
      differences: (stored) => diffRows(settingRows(input), settingRows(textsOfAgents(stored))),
    })
    if (saved) notify(common('saved'))
  }
  const { fields } = editor
  return (
    <Form onSubmit={save} dirty={editor.isDirty} label={common('agents')} isEditableWhileSending>
      <Section title={t('sale')} hint={t('saleHint')}>
        <CheckField bind={fields.enabled} label={t('enabled')} />
        <SelectField
          bind={fields.access}
          label={t('access')}
          hint={t('accessHint')}
          options={(['SIGNED', 'OPEN'] as const).map((access) => [access, t(`access.${access}`)])}
        />
      </Section>
      <Section title={t('policies')} hint={t('policiesHint')}>
        <div class="fields">
          {policyTypes.map((type, index) => (
            <TextField
              key={type}
              bind={fields[type]}
              name={`policies.${policyTypes.slice(0, index).filter((earlier) => fields[earlier].value.trim() !== '').length}.url`}
              label={t(`policy.${type}`)}
              type="url"
              max={2_000}
              code
            />
          ))}
        </div>
      </Section>
    </Form>
  )
}

const Addresses = ({ settings: { mcp, profile } }: { settings: AgentSettings }) => (
  <Section title={t('addresses')} hint={t('addressesHint')}>
    <FactList
      facts={[
        [t('mcp'), <CopyableText key="mcp" text={mcp} label={t('mcp')} />],
        [t('profile'), profile === null ? '–' : <CopyableText key="profile" text={profile} label={t('profile')} />],
      ]}
    />
    {profile === null && (
      <>
        <Note tone="warn">{t('noProfile')}</Note>
        <div class="row">
          <ButtonLink href={shopPath('settings', 'hosts')} text={t('domains')} />
        </div>
      </>
    )}
  </Section>
)

/** Shows what the served profile offers. The page may only read it from its own host. */
function Offers({ settings: { profile } }: { settings: AgentSettings }) {
  if (profile === null) return null
  return new URL(profile).origin === location.origin ? (
    <ProfileOffers profile={profile} />
  ) : (
    <Section title={t('offers')} hint={t('elsewhere')}>
      <a href={profile} rel="noreferrer" target="_blank">
        <bdi>{profile}</bdi>
      </a>
    </Section>
  )
}

function ProfileOffers({ profile }: { profile: string }) {
  const served = useResource(profile, async (signal) => (await fetch(profile, { signal })).json() as Promise<Record<string, unknown>>)
  return (
    <Section title={t('offers')}>
      <ResourceView resource={served} lines={4}>
        {(document) => {
          const offeredNames = offersIn(document)
          return (
            <>
              <FactList facts={offers.map((offer) => [t(`offer.${offer}`), t(offeredNames.includes(offer) ? 'offered' : 'notOffered')])} />
              {!offeredNames.includes('checkout') && (
                <>
                  <Note tone="warn">{t('noCheckout')}</Note>
                  <div class="row">
                    <ButtonLink href={shopPath('settings', 'payments')} text={t('connect')} />
                    <ButtonLink href={shopPath('settings')} text={t('checkoutPage')} />
                  </div>
                </>
              )}
              <details>
                <summary>{t('served')}</summary>
                <pre dir="ltr">{JSON.stringify(document, null, 2)}</pre>
              </details>
            </>
          )
        }}
      </ResourceView>
    </Section>
  )
}

function Keys({ settings: { keys }, onRotated }: { settings: AgentSettings; onRotated: () => Promise<void> }) {
  const sendOnce = useIdempotentSend()
  async function rotate(): Promise<void> {
    if (!(await confirm({ title: t('rotateTitle'), body: <p>{t('rotateText')}</p>, action: t('rotate') }))) return
    await sendOnce({}, (header) => ok(api.POST('/shops/v2/agents/keys/rotate', { params: { header } })))
    await onRotated()
    notify(t('rotated'))
  }
  return (
    <Section title={t('keys')} hint={t('keysHint')} actions={<Button onPress={rotate} text={t('rotate')} />}>
      <Table
        caption={t('keys')}
        columns={[
          { title: t('key'), main: true, cell: ({ kid }) => <code>{kid}</code> },
          { title: t('signsFrom'), cell: ({ signsFrom }) => <Moment at={signsFrom} /> },
          { title: t('dropped'), cell: ({ expiresAt }) => (expiresAt === null ? '–' : <Moment at={expiresAt} />) },
        ]}
        rows={keys}
        rowKey={({ kid }) => kid}
      />
    </Section>
  )
}
