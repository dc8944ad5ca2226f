import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { common } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { addView, readViews, type SavedView, storeViews, viewQuery } from '../lib/session/saved-views.ts'
import { Button } from './button.tsx'
import { FormDialog } from './dialog.tsx'
import { TextField } from './fields.tsx'
import { Form } from './form.tsx'

/** Selects, saves and deletes the named views of a list. */
export function SavedViews() {
  const { path, query } = useRoute()
  const { route } = useLocation()
  const [views, setViews] = useState(() => readViews(path))
  const [isNaming, setNaming] = useState(false)
  const now = viewQuery(query)
  const current = views.find((view) => view.query === now)
  function store(next: readonly SavedView[]): void {
    if (!storeViews(path, next)) throw new Error(common('viewNotStored'))
    setViews(next)
  }
  if (views.length === 0 && now === '') return null
  return (
    <div class="row saved-views">
      {views.length > 0 && (
        <label class="row">
          <span>{common('view')}</span>
          <select
            value={current?.name ?? ''}
            onChange={({ currentTarget: { value } }) => {
              const chosen = views.find(({ name }) => name === value)
              route(chosen ? `${path}?${chosen.query}` : path)
            }}
          >
            <option value="">{now !== '' && !current ? common('custom') : common('all')}</option>
            {views.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {current ? (
        <Button kind="quiet" onPress={() => store(views.filter((view) => view !== current))} text={common('viewDelete')} />
      ) : (
        now !== '' && <Button kind="quiet" onPress={() => setNaming(true)} text={common('viewSave')} />
      )}
      {isNaming && (
        <NameDialog
          onClose={() => setNaming(false)}
          onName={(name) => {
            store(addView(views, { name, query: now }))
            setNaming(false)
            notify(common('saved'))
          }}
        />
      )}
    </div>
  )
}

function NameDialog({ onClose, onName }: { onClose: () => void; onName: (name: string) => void }) {
  const name = useSignal('')
  return (
    <FormDialog title={common('viewSave')} onClose={onClose}>
      <Form onSubmit={() => onName(name.value.trim() || common('custom'))} label={common('viewSave')}>
        <TextField bind={name} label={common('name')} hint={common('viewHint')} max={60} required />
      </Form>
    </FormDialog>
  )
}
