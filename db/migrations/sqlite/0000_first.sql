CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`kind` text NOT NULL,
	`mode` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`scopes` text NOT NULL,
	`sealed` text,
	`public_value` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_shop` ON `api_keys` (`shop_id`,`kind`,`created_at`);--> statement-breakpoint
CREATE TABLE `attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`bucket` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `attempts_bucket` ON `attempts` (`bucket`,`at`);--> statement-breakpoint
CREATE INDEX `attempts_at` ON `attempts` (`at`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`shop_id` text,
	`request_id` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `audit_log_subject` ON `audit_log` (`subject`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_at` ON `audit_log` (`at`);--> statement-breakpoint
CREATE TABLE `blogs` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`slug` text NOT NULL,
	`title` text NOT NULL,
	`excerpt` text,
	`body_html` text NOT NULL,
	`cover_image` text,
	`author` text,
	`tags` text NOT NULL,
	`status` text NOT NULL,
	`published_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`words` text NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `blogs_slug` ON `blogs` (`slug`);--> statement-breakpoint
CREATE INDEX `blogs_shop` ON `blogs` (`shop_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `collection_products` (
	`collection_id` text NOT NULL,
	`position` integer NOT NULL,
	`product_id` text NOT NULL,
	PRIMARY KEY(`collection_id`, `product_id`),
	FOREIGN KEY (`collection_id`) REFERENCES `collections`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `collection_products_order` ON `collection_products` (`collection_id`,`position`);--> statement-breakpoint
CREATE INDEX `collection_products_product` ON `collection_products` (`product_id`);--> statement-breakpoint
CREATE TABLE `collections` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`handle` text NOT NULL,
	`title` text NOT NULL,
	`description_html` text NOT NULL,
	`image` text,
	`published_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `collections_handle` ON `collections` (`shop_id`,`handle`);--> statement-breakpoint
CREATE INDEX `collections_shop` ON `collections` (`shop_id`,`id`);--> statement-breakpoint
CREATE TABLE `customers` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`password_hash` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `customers_shop_email` ON `customers` (`shop_id`,`email`);--> statement-breakpoint
CREATE TABLE `encryption_keys` (
	`version` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`attempt` text NOT NULL,
	`lease_until` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`sealed_answer` text,
	PRIMARY KEY(`scope`, `key`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotency_keys_expiry` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE TABLE `listing_anchors` (
	`shop_id` text NOT NULL,
	`sort` text NOT NULL,
	`key` text NOT NULL,
	`documents` integer NOT NULL,
	PRIMARY KEY(`shop_id`, `sort`, `key`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `listing_changes` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`newest_key` text NOT NULL,
	`title_key` text NOT NULL,
	`price_key` text NOT NULL,
	`documents` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `listing_changes_shop` ON `listing_changes` (`shop_id`,`id`);--> statement-breakpoint
CREATE TABLE `product_documents` (
	`product_id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`document` text NOT NULL,
	`etag` text NOT NULL,
	`visible_from` integer NOT NULL,
	`newest_key` text NOT NULL,
	`title_key` text NOT NULL,
	`price_key` text NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_documents_newest` ON `product_documents` (`shop_id`,`newest_key`,`visible_from`);--> statement-breakpoint
CREATE INDEX `product_documents_title` ON `product_documents` (`shop_id`,`title_key`,`visible_from`);--> statement-breakpoint
CREATE INDEX `product_documents_price` ON `product_documents` (`shop_id`,`price_key`,`visible_from`);--> statement-breakpoint
CREATE TABLE `product_tags` (
	`product_id` text NOT NULL,
	`tag` text NOT NULL,
	`shop_id` text NOT NULL,
	`newest_key` text NOT NULL,
	PRIMARY KEY(`product_id`, `tag`),
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_tags_newest` ON `product_tags` (`shop_id`,`tag`,`newest_key`);--> statement-breakpoint
CREATE TABLE `products` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`handle` text NOT NULL,
	`title` text NOT NULL,
	`description_html` text NOT NULL,
	`vendor` text NOT NULL,
	`type` text NOT NULL,
	`tags` text NOT NULL,
	`status` text NOT NULL,
	`currency` text NOT NULL,
	`options` text NOT NULL,
	`images` text NOT NULL,
	`seo_title` text,
	`seo_description` text,
	`published_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `products_handle` ON `products` (`shop_id`,`handle`);--> statement-breakpoint
CREATE INDEX `products_shop` ON `products` (`shop_id`,`id`);--> statement-breakpoint
CREATE TABLE `refresh_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `refresh_tokens_session` ON `refresh_tokens` (`session_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`subject_id` text NOT NULL,
	`role` text NOT NULL,
	`shop_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `sessions_subject` ON `sessions` (`subject_id`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `shops` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`name` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`logo_url` text,
	`currency` text NOT NULL,
	`country` text NOT NULL,
	`mode` text NOT NULL,
	`status` text NOT NULL,
	`contact` text NOT NULL,
	`address` text NOT NULL,
	`origins` text NOT NULL,
	`tax_rates` text NOT NULL,
	`shipping_methods` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `shops_name` ON `shops` (`name`);--> statement-breakpoint
CREATE INDEX `shops_merchant` ON `shops` (`merchant_id`,`id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`role` text NOT NULL,
	`email` text NOT NULL,
	`password_hash` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);--> statement-breakpoint
CREATE TABLE `variants` (
	`id` text PRIMARY KEY NOT NULL,
	`product_id` text NOT NULL,
	`position` integer NOT NULL,
	`sku` text,
	`barcode` text,
	`title` text NOT NULL,
	`option_values` text NOT NULL,
	`price` integer NOT NULL,
	`compare_at_price` integer,
	`cost` integer,
	`weight_grams` integer NOT NULL,
	`taxable` integer NOT NULL,
	`track_inventory` integer NOT NULL,
	`allow_backorder` integer NOT NULL,
	`on_hand` integer NOT NULL,
	`image_id` text,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `variants_product` ON `variants` (`product_id`,`position`);--> statement-breakpoint
CREATE TABLE `wallets` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`address` text NOT NULL,
	`sealed_key` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
