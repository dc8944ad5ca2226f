CREATE TABLE `audit_retention` (
	`id` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
) STRICT;--> statement-breakpoint
CREATE TABLE `stock_history` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`variant_id` text NOT NULL,
	`delta` integer NOT NULL,
	`on_hand` integer NOT NULL,
	`reason` text,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;--> statement-breakpoint
ALTER TABLE `order_events` ADD `position` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `attempts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `holds` text DEFAULT 'HELD' NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `processor` text;--> statement-breakpoint
ALTER TABLE `orders` ADD `placed_from` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `lease_holder` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `lease_until` integer;--> statement-breakpoint
ALTER TABLE `refunds` ADD `lines` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `refunds` ADD `sent_at` integer;--> statement-breakpoint
ALTER TABLE `refunds` ADD `lease_holder` text;--> statement-breakpoint
ALTER TABLE `refunds` ADD `lease_until` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `last_used_at` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `address` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `agent` text;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `failures` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `failing_since` integer;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `retry_at` integer;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `disabled_at` integer;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `disabled_reason` text;--> statement-breakpoint
ALTER TABLE `affiliates` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `address` text;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `before` text;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `after` text;--> statement-breakpoint
ALTER TABLE `blogs` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `collections` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `gift_cards` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `products` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `tax_rates_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `shipping_methods_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
UPDATE order_events SET position = (SELECT count(*) FROM order_events e WHERE e.order_id = order_events.order_id AND e.id <= order_events.id);--> statement-breakpoint
UPDATE orders SET processor = (SELECT p.processor FROM payments p WHERE p.order_id = orders.id ORDER BY p.id DESC LIMIT 1);--> statement-breakpoint
UPDATE refunds SET sent_at = created_at;--> statement-breakpoint
UPDATE variants SET reserved = reserved - (
  SELECT sum(l.quantity) FROM order_lines l
    JOIN saga_steps r ON r.order_id = l.order_id AND r.step = 'RESERVE_STOCK' AND r.state = 'DONE'
    JOIN saga_steps h ON h.order_id = l.order_id AND h.step = 'HOLD_GIFT_CARDS' AND h.state = 'UNDONE'
  WHERE l.variant_id = variants.id AND l.tracked)
WHERE id IN (
  SELECT l.variant_id FROM order_lines l
    JOIN saga_steps r ON r.order_id = l.order_id AND r.step = 'RESERVE_STOCK' AND r.state = 'DONE'
    JOIN saga_steps h ON h.order_id = l.order_id AND h.step = 'HOLD_GIFT_CARDS' AND h.state = 'UNDONE'
  WHERE l.tracked);--> statement-breakpoint
UPDATE orders SET holds = CASE
  WHEN EXISTS (SELECT 1 FROM saga_steps s WHERE s.order_id = orders.id AND s.step = 'COMMIT_STOCK' AND s.state = 'DONE') THEN 'COMMITTED'
  WHEN EXISTS (SELECT 1 FROM saga_steps s WHERE s.order_id = orders.id AND s.step = 'HOLD_GIFT_CARDS' AND s.state = 'DONE') THEN 'HELD'
  ELSE 'RELEASED' END;--> statement-breakpoint
DELETE FROM outbox WHERE status = 'HELD';--> statement-breakpoint
DROP TABLE `saga_steps`;--> statement-breakpoint
DROP INDEX `order_events_order`;--> statement-breakpoint
DROP INDEX `orders_shop`;--> statement-breakpoint
DROP INDEX `orders_status`;--> statement-breakpoint
DROP INDEX `orders_cart`;--> statement-breakpoint
CREATE UNIQUE INDEX `order_events_position` ON `order_events` (`order_id`,`position`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_cart_live` ON `orders` (`cart_id`) WHERE status not in ('EXPIRED', 'CANCELLED');--> statement-breakpoint
CREATE INDEX `orders_created` ON `orders` (`shop_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `orders_status_number` ON `orders` (`shop_id`,`status`,`number`);--> statement-breakpoint
CREATE INDEX `orders_email` ON `orders` (`shop_id`,lower("email"));--> statement-breakpoint
CREATE INDEX `orders_unpaid_from` ON `orders` (`placed_from`) WHERE status = 'PENDING_PAYMENT';--> statement-breakpoint
CREATE INDEX `orders_unpaid_of` ON `orders` (`shop_id`) WHERE status = 'PENDING_PAYMENT';--> statement-breakpoint
CREATE INDEX `orders_cart` ON `orders` (`cart_id`,`number`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_lane` ON `webhook_deliveries` (`endpoint_id`,`next_at`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX `stock_history_variant` ON `stock_history` (`variant_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_actor` ON `audit_log` (`actor`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_action` ON `audit_log` (`action`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_shop` ON `audit_log` (`shop_id`,`at`);--> statement-breakpoint
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
BEGIN
  SELECT RAISE(ABORT, 'the audit trail cannot be changed');
END;--> statement-breakpoint
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
WHEN NOT EXISTS (SELECT 1 FROM audit_retention WHERE until > OLD.at)
BEGIN
  SELECT RAISE(ABORT, 'the audit trail cannot be removed');
END;--> statement-breakpoint
CREATE TRIGGER audit_log_not_replaced BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM audit_log WHERE rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'the audit trail cannot be replaced');
END;
