import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Resource } from '../lib/api/resource.ts'
import { common } from '../lib/i18n/common.ts'
import { lastVisit } from '../lib/session/list-position.ts'
import { ErrorMessage } from './error-message.tsx'
import { Icon, type IconName } from './icon.tsx'

/**
 * A page; its heading takes the focus.
 * @param back link to the parent; a list is restored as last shown
 */
export function Page({
  title,
  subtitle,
  back,
  actions,
  children,
}: {
  title: string
  subtitle?: ComponentChildren
  back?: { href: string; text: string }
  actions?: ComponentChildren
  children?: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · souk`
  }, [title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <>
      <header class="page-head">
        <div>
          {back && (
            <a class="back" href={lastVisit(back.href)}>
              <Icon name="left" />
              {back.text}
            </a>
          )}
          <h1 ref={heading} tabIndex={-1}>
            <bdi>{title}</bdi>
          </h1>
          {subtitle && <div class="subtitle">{subtitle}</div>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

export const Section = ({
  title,
  actions,
  hint,
  children,
  wide,
}: {
  title?: string
  actions?: ComponentChildren
  hint?: ComponentChildren
  children?: ComponentChildren
  wide?: boolean
}) => (
  <section class={wide ? 'card wide' : 'card'} aria-label={title}>
    {(title || actions) && (
      <header>
        {title && <h2>{title}</h2>}
        {actions && <div class="row">{actions}</div>}
      </header>
    )}
    {hint && <p class="hint">{hint}</p>}
    {children}
  </section>
)

/** Shows the data of a resource, a skeleton while it loads, or its error. */
export function ResourceView<T>({
  resource,
  children,
  lines = 4,
}: {
  resource: Resource<T>
  children: (data: T) => ComponentChildren
  lines?: number
}) {
  const data = resource.data.value
  const error = resource.error.value
  if (data === undefined)
    return error === undefined ? (
      <div class="skeleton" role="status" aria-label={common('loading')}>
        {Array.from({ length: lines }, (_, index) => (
          <i key={index} />
        ))}
      </div>
    ) : (
      <ErrorMessage error={error} retry={resource.reload} />
    )
  return (
    <div class="loaded" aria-busy={resource.loading.value}>
      {error !== undefined && <ErrorMessage error={error} retry={resource.reload} />}
      {children(data)}
    </div>
  )
}

/** Shown in place of an empty list. */
export const EmptyState = ({
  icon = 'page',
  title,
  text,
  action,
}: {
  icon?: IconName
  title: string
  text?: string
  action?: ComponentChildren
}) => (
  <div class="empty">
    <Icon name={icon} />
    <p>
      <strong>{title}</strong>
    </p>
    {text && <p>{text}</p>}
    {action}
  </div>
)
