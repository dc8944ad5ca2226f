CREATE TABLE `agent_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`public_key` text NOT NULL,
	`private_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`signs_from` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `agent_keys_shop` ON `agent_keys` (`shop_id`,`signs_from`);--> statement-breakpoint
CREATE TABLE `agent_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`order_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`url` text NOT NULL,
	`body` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_messages_order` ON `agent_messages` (`order_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `agent_messages_due` ON `agent_messages` (`next_at`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE TABLE `agent_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`kind` text NOT NULL,
	`cart_id` text NOT NULL,
	`profile` text,
	`is_proven` integer NOT NULL,
	`opened_from` text,
	`request` text NOT NULL,
	`shown` text NOT NULL,
	`source_id` text,
	`failures` integer DEFAULT 0 NOT NULL,
	`canceled_at` integer,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cart_id`) REFERENCES `carts`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_sessions_cart` ON `agent_sessions` (`cart_id`);--> statement-breakpoint
CREATE INDEX `agent_sessions_source` ON `agent_sessions` (`source_id`) WHERE source_id is not null;--> statement-breakpoint
CREATE INDEX `agent_sessions_opened` ON `agent_sessions` (`opened_from`,`expires_at`) WHERE canceled_at is null and opened_from is not null;--> statement-breakpoint
CREATE INDEX `agent_sessions_platform` ON `agent_sessions` (`shop_id`,`profile`,`expires_at`) WHERE canceled_at is null;--> statement-breakpoint
CREATE TABLE `agent_settings` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`enabled` integer NOT NULL,
	`access` text NOT NULL,
	`policies` text NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
ALTER TABLE `carts` ADD `agent` text;--> statement-breakpoint
ALTER TABLE `orders` ADD `agent` text;--> statement-breakpoint
CREATE INDEX `orders_agent` ON `orders` (`shop_id`,`number`) WHERE agent is not null;