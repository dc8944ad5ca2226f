import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TagsField, TextAreaField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ResourceView } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from './i18n.ts'
import { ProfileFields, profileBody } from './profile.tsx'

type Customer = Schema<'Customer'>

const noteMax = 5_000
const tagsMax = 50

/** Edits a customer's details, and the staff's note and tags. */
export function EditCustomerDialog({ id, onClose, onSaved }: { id: string; onClose: () => void; onSaved: () => Promise<void> }) {
  const current = useResource(id, (signal) =>
    readVersioned<Customer>(api.GET('/customer/{customerId}', { params: { path: { customerId: id } }, signal })),
  )
  return (
    <FormDialog title={t('edit')} onClose={onClose}>
      <ResourceView resource={current}>
        {(version) => <EditCustomerForm current={version} resource={current} onSaved={onSaved} />}
      </ResourceView>
    </FormDialog>
  )
}

const valuesOf = ({ email, name, phone, acceptsMarketing, note, tags }: Customer) => ({
  ...{ email, name, phone: phone ?? '', acceptsMarketing, note: note ?? '' },
  tags: tags as readonly string[],
})

function EditCustomerForm({
  current,
  resource,
  onSaved,
}: {
  current: Versioned<Customer>
  resource: Resource<Versioned<Customer>>
  onSaved: () => Promise<void>
}) {
  const editor = useRecordEditor(resource, current, valuesOf)
  const sendOnce = useIdempotentSend()
  async function save(): Promise<void> {
    const { note, tags, ...profile } = editor.values()
    const body = { ...profileBody(profile), note: note.trim() || null, tags: [...tags] }
    const saved = await editor.save({
      save: (version) =>
        sendOnce([body, version], (header) =>
          readVersioned<Customer>(
            api.PATCH('/customer/{customerId}', {
              params: { path: { customerId: current.data.id }, header: { ...header, ...ifMatch(version) } },
              body,
            }),
          ),
        ),
      differences: (theirs) => [
        [common('email'), body.email, theirs.email],
        [common('name'), body.name, theirs.name],
        [common('address.phone'), body.phone ?? '–', theirs.phone ?? '–'],
        [common('note'), body.note ?? '–', theirs.note ?? '–'],
        [common('tags'), body.tags.join(', '), theirs.tags.join(', ')],
      ],
    })
    if (!saved) return
    notify(common('saved'))
    await onSaved()
  }
  return (
    <Form onSubmit={save} dirty={editor.isDirty} label={t('edit')}>
      <ProfileFields fields={editor.fields} />
      <TextAreaField label={common('note')} hint={t('staffOnly')} bind={editor.fields.note} max={noteMax} />
      <TagsField label={common('tags')} hint={t('staffOnly')} bind={editor.fields.tags} max={tagsMax} />
    </Form>
  )
}
