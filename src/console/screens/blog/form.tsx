import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { pickChanges, withoutNulls } from '../../lib/api/changed-fields.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TagsField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { type Body, blankBlog, bodyOf, textOf } from './blog.domain.ts'
import { t } from './i18n.ts'
import { readBlog, type VersionedBlog } from './read.ts'

type Blog = Schema<'Blog'>

/** Creates or edits an article. */
export function BlogForm({ of, onSaved }: { of?: VersionedBlog; onSaved?: (current: VersionedBlog) => void }) {
  const { route } = useLocation()
  const zone = timeZone()
  const draft = useDraft(of?.data.id ?? 'new', of ? textOf(of.data, zone) : blankBlog)
  const wrong = useSignal(false)
  const sendOnce = useIdempotentSend()
  const { of: field } = draft

  /** Reports whether the API removed disallowed HTML. */
  function notifySaved(stored: Blog, body: Partial<Body>) {
    const isSame = body.bodyHtml === undefined || stored.bodyHtml === body.bodyHtml
    notify(isSame ? common('saved') : t('cleaned'))
  }
  async function create(body: Body) {
    const made = await sendOnce(body, (key) =>
      ok(api.POST('/blogs', { params: { header: { 'idempotency-key': key } }, body: withoutNulls(body) })),
    )
    draft.reset(draft.now())
    notifySaved(made, body)
    route(shopPath('blog', made.id), true)
  }
  async function change({ data, etag }: VersionedBlog, body: Body) {
    const changes = pickChanges(body, data)
    const sent = draft.now()
    const isNothing = Object.keys(changes).length === 0
    const saved = isNothing
      ? { data, etag }
      : await saveVersioned(etag, {
          save: (version) =>
            sendOnce([changes, version], (key) =>
              readVersioned(
                api.PATCH('/blogs/{id}', {
                  params: { path: { id: data.id }, header: { 'idempotency-key': key, ...(version && { 'if-match': version }) } },
                  body: changes,
                }),
              ),
            ),
          theirs: () => readBlog(data.id),
          differences: (theirs) => differences(body, theirs),
          onTheirs(now) {
            draft.reset(textOf(now.data, zone))
            onSaved?.(now)
          },
        })
    if (!saved) return
    const current = saved as VersionedBlog
    notifySaved(current.data, changes)
    draft.saved(textOf(current.data, zone), sent)
    onSaved?.(current)
  }
  function submit() {
    const body = bodyOf(draft.now(), { zone, before: of?.data })
    wrong.value = body === undefined
    if (!body) throw new Error(t('notMoment'))
    return of ? change(of, body) : create(body)
  }
  return (
    <Form
      onSubmit={async () => submit()}
      submit={of ? common('save') : common('create')}
      dirty={draft.dirty}
      label={of ? t('article') : t('add')}
      keepsTyping={of !== undefined}
    >
      <div class="columns">
        <div class="stack">
          <Section title={t('text')}>
            <TextField bind={field.title} label={common('title')} required max={255} />
            <TextAreaField bind={field.excerpt} label={t('excerpt')} hint={t('excerptHint')} rows={3} max={2_000} />
            <TextAreaField bind={field.bodyHtml} label={t('body')} hint={t('bodyHint')} rows={16} max={65_536} />
          </Section>
          <Section title={common('preview')}>
            <DelayedPreview of={field.bodyHtml} />
          </Section>
        </div>
        <div class="stack">
          <Section title={t('publishing')}>
            <SelectField
              bind={field.status}
              label={common('status')}
              options={(['DRAFT', 'PUBLISHED'] as const).map((one) => [one, stateName(one)])}
            />
            <TextField
              bind={field.publishedAt}
              label={t('publishedAt')}
              type="datetime-local"
              hint={t('publishedHint', { zone })}
              error={wrong.value ? t('notMoment') : undefined}
            />
            <TextField bind={field.slug} label={t('slug')} hint={t(of ? 'slugChangeHint' : 'slugHint')} max={255} />
            <TextField bind={field.author} label={t('author')} max={255} />
            <TagsField bind={field.tags as Parameters<typeof TagsField>[0]['bind']} label={common('tags')} hint={t('tagsHint')} max={250} />
          </Section>
          <Section title={t('cover')}>
            {field.coverImage.value && (
              <>
                <Picture url={field.coverImage.value} large />
                <div>
                  <Button
                    onPress={() => {
                      field.coverImage.value = ''
                    }}
                  >
                    {t('coverRemove')}
                  </Button>
                </div>
              </>
            )}
            <Uploads
              single
              label={field.coverImage.value ? t('coverOther') : t('coverChoose')}
              onDone={({ url }) => {
                field.coverImage.value = url
              }}
            />
          </Section>
        </div>
      </div>
    </Form>
  )
}

const previewDelayMs = 300

/** Redraws the preview after a typing pause, because the text can be long. */
function DelayedPreview({ of }: { of: Signal<string> }) {
  const [html, setHtml] = useState(of.value)
  const typed = of.value
  useEffect(() => {
    const waiting = setTimeout(() => setHtml(typed), previewDelayMs)
    return () => clearTimeout(waiting)
  }, [typed])
  return <HtmlPreview html={html} label={t('previewLook')} />
}

const shownMax = 600
const excerpt = (text: string) => (text.length > shownMax ? `${text.slice(0, shownMax)} …` : text)

/** Lists the differing fields of a conflict. */
function differences(mine: Body, theirs: Blog): readonly (readonly [string, string, string])[] {
  const rows = (of: Body): readonly (readonly [string, string])[] => [
    [common('title'), of.title],
    [t('slug'), of.slug ?? theirs.slug],
    [t('excerpt'), of.excerpt ?? '–'],
    [t('body'), of.bodyHtml],
    [t('cover'), of.coverImage ?? '–'],
    [t('author'), of.author ?? '–'],
    [common('tags'), of.tags.join(', ')],
    [common('status'), stateName(of.status)],
    [t('publishedAt'), of.publishedAt ? moment(of.publishedAt) : '–'],
  ]
  return diffRows(rows(mine), rows(theirs)).map(([name, yours, other]) => [name, excerpt(yours), excerpt(other)] as const)
}
