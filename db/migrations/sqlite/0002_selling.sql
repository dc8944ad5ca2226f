CREATE TABLE `addresses` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`customer_id` text,
	`entered_by` text,
	`address` text NOT NULL,
	`is_default_shipping` integer NOT NULL,
	`is_default_billing` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`entered_by`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `addresses_customer` ON `addresses` (`customer_id`,`id`);--> statement-breakpoint
CREATE TABLE `affiliate_clicks` (
	`id` text PRIMARY KEY NOT NULL,
	`affiliate_id` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `affiliate_clicks_affiliate` ON `affiliate_clicks` (`affiliate_id`,`at`);--> statement-breakpoint
CREATE INDEX `affiliate_clicks_at` ON `affiliate_clicks` (`at`);--> statement-breakpoint
CREATE TABLE `affiliates` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`name` text NOT NULL,
	`code` text NOT NULL,
	`rate_bps` integer NOT NULL,
	`active` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `affiliates_code` ON `affiliates` (`shop_id`,`code`);--> statement-breakpoint
CREATE INDEX `affiliates_shop` ON `affiliates` (`shop_id`,`id`);--> statement-breakpoint
CREATE TABLE `cart_gift_cards` (
	`cart_id` text NOT NULL,
	`gift_card_id` text NOT NULL,
	`applied_at` integer NOT NULL,
	PRIMARY KEY(`cart_id`, `gift_card_id`),
	FOREIGN KEY (`cart_id`) REFERENCES `carts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`gift_card_id`) REFERENCES `gift_cards`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `cart_lines` (
	`id` text PRIMARY KEY NOT NULL,
	`cart_id` text NOT NULL,
	`variant_id` text NOT NULL,
	`quantity` integer NOT NULL,
	`unit_price` integer NOT NULL,
	FOREIGN KEY (`cart_id`) REFERENCES `carts`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `cart_lines_variant` ON `cart_lines` (`cart_id`,`variant_id`);--> statement-breakpoint
CREATE TABLE `carts` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`customer_id` text,
	`currency` text NOT NULL,
	`email` text,
	`shipping_address` text,
	`billing_address` text,
	`shipping_method` text,
	`affiliate_code` text,
	`affiliate_at` integer,
	`shown_total` integer NOT NULL,
	`shown_due` integer NOT NULL,
	`status` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `carts_expiry` ON `carts` (`expires_at`) WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX `carts_over` ON `carts` (`updated_at`) WHERE status <> 'OPEN';--> statement-breakpoint
CREATE INDEX `carts_customer` ON `carts` (`customer_id`,`status`,`created_at`);--> statement-breakpoint
CREATE TABLE `commissions` (
	`order_id` text PRIMARY KEY NOT NULL,
	`affiliate_id` text NOT NULL,
	`shop_id` text NOT NULL,
	`currency` text NOT NULL,
	`amount` integer NOT NULL,
	`reversed` integer NOT NULL,
	`status` text NOT NULL,
	`approves_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `commissions_affiliate` ON `commissions` (`affiliate_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `commissions_due` ON `commissions` (`status`,`approves_at`);--> statement-breakpoint
CREATE TABLE `customer_totals` (
	`customer_id` text NOT NULL,
	`currency` text NOT NULL,
	`orders` integer NOT NULL,
	`spent` integer NOT NULL,
	PRIMARY KEY(`customer_id`, `currency`),
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `fx_rates` (
	`day` text NOT NULL,
	`currency` text NOT NULL,
	`usd_per_unit` text NOT NULL,
	`source` text NOT NULL,
	PRIMARY KEY(`currency`, `day`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `gift_card_transactions` (
	`id` text PRIMARY KEY NOT NULL,
	`gift_card_id` text NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`order_id` text,
	`refund_id` text,
	`at` integer NOT NULL,
	FOREIGN KEY (`gift_card_id`) REFERENCES `gift_cards`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `gift_card_transactions_card` ON `gift_card_transactions` (`gift_card_id`,`id`);--> statement-breakpoint
CREATE INDEX `gift_card_transactions_order` ON `gift_card_transactions` (`order_id`);--> statement-breakpoint
CREATE TABLE `gift_cards` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`code_hash` text NOT NULL,
	`last4` text NOT NULL,
	`currency` text NOT NULL,
	`initial_amount` integer NOT NULL,
	`balance` integer NOT NULL,
	`expires_at` integer,
	`status` text NOT NULL,
	`customer_id` text,
	`note` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `gift_cards_code` ON `gift_cards` (`shop_id`,`code_hash`);--> statement-breakpoint
CREATE INDEX `gift_cards_shop` ON `gift_cards` (`shop_id`,`id`);--> statement-breakpoint
CREATE TABLE `instance_keys` (
	`purpose` text PRIMARY KEY NOT NULL,
	`sealed_key` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `order_events` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`type` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`detail` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_events_order` ON `order_events` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `order_gift_cards` (
	`order_id` text NOT NULL,
	`gift_card_id` text NOT NULL,
	`last4` text NOT NULL,
	`amount` integer NOT NULL,
	`refunded` integer NOT NULL,
	`settled_at` integer,
	PRIMARY KEY(`order_id`, `gift_card_id`),
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`gift_card_id`) REFERENCES `gift_cards`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `order_lines` (
	`order_id` text NOT NULL,
	`position` integer NOT NULL,
	`id` text NOT NULL,
	`product_id` text NOT NULL,
	`variant_id` text NOT NULL,
	`title` text NOT NULL,
	`variant_title` text NOT NULL,
	`sku` text,
	`quantity` integer NOT NULL,
	`unit_price` integer NOT NULL,
	`total` integer NOT NULL,
	`tax_rate_bps` integer NOT NULL,
	`tax_inclusive` integer NOT NULL,
	`tax_amount` integer NOT NULL,
	`tracked` integer NOT NULL,
	PRIMARY KEY(`order_id`, `position`),
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `order_numbers` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `orders` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`number` integer NOT NULL,
	`cart_id` text NOT NULL,
	`customer_id` text,
	`email` text NOT NULL,
	`currency` text NOT NULL,
	`subtotal` integer NOT NULL,
	`discount_total` integer NOT NULL,
	`shipping_total` integer NOT NULL,
	`tax_total` integer NOT NULL,
	`tax_included` integer NOT NULL,
	`gift_card_total` integer NOT NULL,
	`total` integer NOT NULL,
	`amount_due` integer NOT NULL,
	`captured_total` integer NOT NULL,
	`refunded_total` integer NOT NULL,
	`gift_card_refunded_total` integer NOT NULL,
	`fx_to_usd` text,
	`status` text NOT NULL,
	`payment_status` text NOT NULL,
	`fulfilment_status` text NOT NULL,
	`shipping_address` text,
	`billing_address` text,
	`shipping_method` text,
	`affiliate_code` text,
	`affiliate_at` integer,
	`affiliate_id` text,
	`tracking_number` text,
	`carrier` text,
	`expires_at` integer NOT NULL,
	`resume_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`confirmed_at` integer,
	`fulfilled_at` integer,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_number` ON `orders` (`shop_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_cart` ON `orders` (`cart_id`);--> statement-breakpoint
CREATE INDEX `orders_customer` ON `orders` (`customer_id`,`shop_id`,`id`);--> statement-breakpoint
CREATE INDEX `orders_shop` ON `orders` (`shop_id`,`id`);--> statement-breakpoint
CREATE INDEX `orders_status` ON `orders` (`shop_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `orders_expiry` ON `orders` (`expires_at`) WHERE status = 'PENDING_PAYMENT';--> statement-breakpoint
CREATE INDEX `orders_fulfilled` ON `orders` (`fulfilled_at`) WHERE status = 'FULFILLED';--> statement-breakpoint
CREATE INDEX `orders_resume` ON `orders` (`resume_at`) WHERE resume_at is not null;--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`shop_id` text NOT NULL,
	`event` text NOT NULL,
	`body` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_key` ON `outbox` (`key`);--> statement-breakpoint
CREATE INDEX `outbox_status` ON `outbox` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`shop_id` text NOT NULL,
	`attempt_key` text NOT NULL,
	`method` text NOT NULL,
	`processor` text NOT NULL,
	`processor_reference` text,
	`sealed_token` text,
	`return_url` text,
	`client_parameters` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`authorized` integer NOT NULL,
	`captured` integer NOT NULL,
	`refunded` integer NOT NULL,
	`status` text NOT NULL,
	`failure_code` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_attempt` ON `payments` (`order_id`,`attempt_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `payments_live` ON `payments` (`order_id`) WHERE status not in ('FAILED', 'VOIDED');--> statement-breakpoint
CREATE INDEX `payments_reference` ON `payments` (`processor`,`processor_reference`);--> statement-breakpoint
CREATE TABLE `refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`shop_id` text NOT NULL,
	`payment_id` text,
	`processor` text,
	`processor_reference` text,
	`currency` text NOT NULL,
	`amount` integer NOT NULL,
	`gift_card_amount` integer NOT NULL,
	`gift_cards` text NOT NULL,
	`reason` text,
	`purpose` text NOT NULL,
	`attempt_key` text NOT NULL,
	`actor` text NOT NULL,
	`status` text NOT NULL,
	`failure_code` text,
	`attempts` integer NOT NULL,
	`resume_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`payment_id`) REFERENCES `payments`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_attempt` ON `refunds` (`order_id`,`attempt_key`);--> statement-breakpoint
CREATE INDEX `refunds_order` ON `refunds` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `refunds_resume` ON `refunds` (`resume_at`) WHERE resume_at is not null;--> statement-breakpoint
CREATE TABLE `saga_steps` (
	`order_id` text NOT NULL,
	`position` integer NOT NULL,
	`step` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`order_id`, `position`),
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `sandbox_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`token` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`captured` integer NOT NULL,
	`refunded` integer NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `sandbox_refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`payment_id` text NOT NULL,
	`amount` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`payment_id`) REFERENCES `sandbox_payments`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `unified_transactions` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`shop_id` text NOT NULL,
	`order_id` text NOT NULL,
	`processor` text NOT NULL,
	`affiliate_id` text,
	`currency` text NOT NULL,
	`amount` integer NOT NULL,
	`usd_per_unit` text,
	`usd_cents` integer,
	`at` integer NOT NULL,
	`rate_day` text NOT NULL,
	`confirmed` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `unified_transactions_key` ON `unified_transactions` (`key`);--> statement-breakpoint
CREATE INDEX `unified_transactions_at` ON `unified_transactions` (`at`);--> statement-breakpoint
CREATE INDEX `unified_transactions_order` ON `unified_transactions` (`order_id`);--> statement-breakpoint
CREATE INDEX `unified_transactions_unpriced` ON `unified_transactions` (`currency`,`rate_day`) WHERE usd_cents is null;--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`outbox_id` text NOT NULL,
	`event` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_at` integer NOT NULL,
	`last_status` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`endpoint_id`) REFERENCES `webhook_endpoints`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`outbox_id`) REFERENCES `outbox`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_once` ON `webhook_deliveries` (`outbox_id`,`endpoint_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`next_at`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_endpoint` ON `webhook_deliveries` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`removed_at` integer,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_shop` ON `webhook_endpoints` (`shop_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_removed` ON `webhook_endpoints` (`removed_at`) WHERE removed_at is not null;--> statement-breakpoint
ALTER TABLE `customers` ADD `phone` text;--> statement-breakpoint
ALTER TABLE `customers` ADD `accepts_marketing` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `variants` ADD `reserved` integer DEFAULT 0 NOT NULL;