import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ifMatch, ok, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import type { IdempotencyHeader } from '../../lib/api/idempotent-send.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { renew, type StaffRole } from '../../lib/session/session.ts'
import { Button } from '../../ui/button.tsx'
import { confirm, FormDialog } from '../../ui/dialog.tsx'
import { EmailText } from '../../ui/email-text.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { staffName } from '../../ui/staff-name.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, Pager, Table } from '../../ui/table.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from './i18n.ts'

type Staff = Schema<'Staff'>
type InvitedStaff = Schema<'InvitedStaff'>

const roles = ['OWNER', 'MANAGER', 'FULFILMENT', 'READ_ONLY'] as const
const roleOptions = () => roles.map((role) => [role, stateName(role)] as const)

/** The shop's staff. */
export default function StaffPage() {
  const query = useQuery()
  const staff = useResource(String(query.page), (signal) =>
    ok(api.GET('/shops/v2/staff', { params: { query: { page: query.page, limit: 50 } }, signal })),
  )
  const me = useResource('me', (signal) => ok(api.GET('/merchant/me', { signal })))
  const myId = me.data.value?.merchant.id
  const [link, setLink] = useState<InvitedStaff | undefined>(undefined)
  const [changing, setChanging] = useState<Versioned<Staff> | undefined>(undefined)

  async function showInvitation(staffMember: InvitedStaff): Promise<void> {
    if (staffMember.inviteUrl) setLink(staffMember)
    else notify(t('invited', { email: staffMember.email }))
    await staff.reload()
  }
  /** A change of oneself affects the whole console. */
  async function reloadAfterChange({ userId }: Staff): Promise<void> {
    if (userId !== null && userId === myId) await renew()
    else await staff.reload()
  }
  async function change(id: string): Promise<void> {
    try {
      setChanging(await readStaff(id))
    } catch (error) {
      // The person may be removed.
      await staff.reload()
      throw error
    }
  }
  const row = { myId, onInvited: showInvitation, onRemoved: reloadAfterChange, onChange: change }
  return (
    <Page title={common('staff')} subtitle={t('subtitle')}>
      {link?.inviteUrl && (
        <SecretOnce
          key={link.inviteUrl}
          title={t('link')}
          text={t('linkText', { email: link.email })}
          secret={link.inviteUrl}
          confirmText={common('secretKept')}
          onConfirm={() => setLink(undefined)}
        />
      )}
      <InviteForm onInvited={showInvitation} />
      <ResourceView resource={staff}>
        {(list) => (
          <>
            <Table caption={common('staff')} columns={columns(row)} rows={list.data} rowKey={({ id }) => id} />
            <Pager pageInfo={list} query={query} />
          </>
        )}
      </ResourceView>
      {changing && (
        <ChangeRole
          current={changing}
          isMe={changing.data.userId !== null && changing.data.userId === myId}
          onClose={() => setChanging(undefined)}
          onChanged={reloadAfterChange}
        />
      )}
    </Page>
  )
}

const readStaff = (id: string): Promise<Versioned<Staff>> =>
  readVersioned<Staff>(api.GET('/shops/v2/staff/{id}', { params: { path: { id } } }))

function InviteForm({ onInvited }: { onInvited: (staffMember: InvitedStaff) => Promise<void> }) {
  const email = useSignal('')
  const role = useSignal<StaffRole>('FULFILMENT')
  const sendOnce = useIdempotentSend()
  async function invite(): Promise<void> {
    const body = { email: email.value.trim(), role: role.value }
    const staffMember = await sendOnce(body, (header) => postInvitation(body, header))
    email.value = ''
    await onInvited(staffMember)
  }
  return (
    <Section title={t('invite')} hint={t('inviteHint')}>
      <Form onSubmit={invite} submit={t('inviteSend')} dirty={email.value !== ''} label={t('invite')}>
        <div class="fields">
          <TextField bind={email} name="email" label={t('email')} type="email" max={254} required code />
          <SelectField bind={role} label={t('role')} options={roleOptions()} hint={t(`role.${role.value}`)} />
        </div>
      </Form>
    </Section>
  )
}

const postInvitation = (body: { email: string; role: StaffRole }, header: IdempotencyHeader): Promise<InvitedStaff> =>
  ok(api.POST('/shops/v2/staff', { params: { header }, body, cache: 'no-store' }))

type RowActions = {
  myId: string | undefined
  onInvited: (staffMember: InvitedStaff) => Promise<void>
  onChange: (id: string) => Promise<void>
  /** Called to show the result. */
  onRemoved: (staffMember: Staff) => Promise<void>
}

const columns = ({ myId, ...actions }: RowActions): readonly Column<Staff>[] => [
  {
    title: t('person'),
    main: true,
    cell: ({ name, email, userId }) => (
      <>
        {name ? <bdi>{name}</bdi> : <EmailText email={email} />}{' '}
        {userId !== null && userId === myId && <span class="faint">({t('you')})</span>}
        {name && (
          <>
            <br />
            <small class="faint">
              <EmailText email={email} />
            </small>
          </>
        )}
      </>
    ),
  },
  { title: t('role'), cell: ({ role }) => <StatusBadge status={role} tone="plain" /> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  {
    title: t('joined'),
    cell: ({ joinedAt, invitationExpiresAt }) =>
      joinedAt ? (
        <Moment at={joinedAt} />
      ) : (
        invitationExpiresAt && (
          <span>
            {t('until')} <Moment at={invitationExpiresAt} />
          </span>
        )
      ),
  },
  {
    title: common('actions'),
    cell: (staffMember) => (
      <StaffActions staffMember={staffMember} isMe={staffMember.userId !== null && staffMember.userId === myId} {...actions} />
    ),
  },
]

function StaffActions({
  staffMember,
  isMe,
  onInvited,
  onChange,
  onRemoved,
}: { staffMember: Staff; isMe: boolean } & Omit<RowActions, 'myId'>) {
  const sendOnce = useIdempotentSend()
  const memberName = staffName(staffMember)
  async function inviteAgain(): Promise<void> {
    const body = { email: staffMember.email, role: staffMember.role }
    await onInvited(await sendOnce([body, staffMember.updatedAt], (header) => postInvitation(body, header)))
  }
  async function remove(): Promise<void> {
    try {
      await askAndRemove()
    } finally {
      // Also if the person was removed already.
      await onRemoved(staffMember)
    }
  }
  async function askAndRemove(): Promise<void> {
    // Asks about the present record, because the list can be old.
    const { data, etag } = await readStaff(staffMember.id)
    const text = t(isMe ? 'removeSelf' : data.status === 'ACTIVE' ? 'removeActive' : 'removeInvited')
    const body = (
      <>
        <p>
          {t('role')}: {stateName(data.role)}
        </p>
        <p>{text}</p>
      </>
    )
    if (!(await confirm({ title: t('removeTitle', { memberName }), body, action: common('remove'), danger: true }))) return
    const path = { id: staffMember.id }
    const isRemoved = await saveVersioned(etag, {
      save: async (version) => {
        await api.DELETE('/shops/v2/staff/{id}', { params: { path, header: ifMatch(version) } })
        return true
      },
      isDelete: true,
      readCurrent: () => readStaff(staffMember.id),
      differences: (theirs) => [
        [t('role'), stateName(data.role), stateName(theirs.role)],
        [common('status'), stateName(data.status), stateName(theirs.status)],
      ],
      onViewCurrent: () => undefined,
    })
    if (isRemoved) notify(t('removed', { memberName }))
  }
  const nameSuffix = <span class="unseen">: {memberName}</span>
  return (
    <div class="row tight">
      <Button kind="quiet" onPress={() => onChange(staffMember.id)}>
        {t('change')}
        {nameSuffix}
      </Button>
      {staffMember.status === 'INVITED' && (
        <Button kind="quiet" onPress={inviteAgain}>
          {t('again')}
          {nameSuffix}
        </Button>
      )}
      <Button kind="quiet" onPress={remove}>
        {common('remove')}
        {nameSuffix}
      </Button>
    </div>
  )
}

type ChangeRoleProps = { current: Versioned<Staff>; isMe: boolean; onClose: () => void; onChanged: (staffMember: Staff) => Promise<void> }

function ChangeRole({ current, isMe, onClose, onChanged }: ChangeRoleProps) {
  const [version, setVersion] = useState(current)
  const path = { id: version.data.id }
  const editor = useRecordEditor({ put: setVersion, read: () => readStaff(path.id) }, version, ({ role }) => ({ role }))
  const { role } = editor.fields
  const memberName = staffName(version.data)
  async function save(): Promise<void> {
    const saved = await editor.save({
      save: (version) =>
        readVersioned(api.PATCH('/shops/v2/staff/{id}', { params: { path, header: ifMatch(version) }, body: { role: role.value } })),
      differences: (theirs) => [[t('role'), stateName(role.value), stateName(theirs.role)]],
    })
    if (!saved) return
    notify(t('changed', { memberName, role: stateName(saved.data.role) }))
    onClose()
    await onChanged(saved.data)
  }
  return (
    <FormDialog title={t('changeOf', { memberName })} onClose={onClose}>
      <Form onSubmit={save} dirty={editor.isDirty} label={t('change')}>
        <SelectField
          bind={role}
          label={t('role')}
          options={roleOptions()}
          hint={`${t(`role.${role.value}`)} ${isMe ? t('changeSelf') : t('changeHint')}`}
        />
      </Form>
    </FormDialog>
  )
}
