"""Tables of TPC-DS: the columns that the queries use, with the types that DuckDB's generator writes them in.

Any column of its files may be NULL; a query reads the columns that it names, whatever others there are.
"""

from __future__ import annotations

from typing import Literal as L

import substrait_dsl as sd

Key = sd.Nullable[sd.I64]
Number = sd.Nullable[sd.I64]
Text = sd.Nullable[sd.String]
Amount = sd.Nullable[sd.Decimal[L[7], L[2]]]


class StoreSales(sd.Schema):
    ss_sold_date_sk: Key
    ss_item_sk: Key
    ss_customer_sk: Key
    ss_addr_sk: Key
    ss_store_sk: Key
    ss_quantity: Number
    ss_list_price: Amount
    ss_sales_price: Amount
    ss_ext_discount_amt: Amount
    ss_ext_sales_price: Amount
    ss_net_paid: Amount
    ss_net_profit: Amount


class CatalogSales(sd.Schema):
    cs_sold_date_sk: Key
    cs_bill_customer_sk: Key
    cs_bill_addr_sk: Key
    cs_ship_customer_sk: Key
    cs_warehouse_sk: Key
    cs_item_sk: Key
    cs_order_number: Key
    cs_quantity: Number
    cs_list_price: Amount
    cs_sales_price: Amount
    cs_ext_sales_price: Amount


class CatalogReturns(sd.Schema):
    cr_item_sk: Key
    cr_order_number: Key
    cr_refunded_cash: Amount


class WebSales(sd.Schema):
    ws_sold_date_sk: Key
    ws_item_sk: Key
    ws_bill_customer_sk: Key
    ws_bill_addr_sk: Key
    ws_quantity: Number
    ws_list_price: Amount
    ws_sales_price: Amount
    ws_ext_sales_price: Amount


class DateDim(sd.Schema):
    d_date_sk: Key
    d_date: sd.Nullable[sd.Date]
    d_month_seq: Number
    d_year: Number
    d_moy: Number
    d_qoy: Number
    d_day_name: Text


class Item(sd.Schema):
    i_item_sk: Key
    i_item_id: Text
    i_current_price: Amount
    i_brand_id: Number
    i_brand: Text
    i_class_id: Number
    i_class: Text
    i_category_id: Number
    i_category: Text
    i_manufact_id: Number
    i_manager_id: Number
    i_product_name: Text


class Customer(sd.Schema):
    c_customer_sk: Key
    c_current_cdemo_sk: Key
    c_current_addr_sk: Key
    c_first_name: Text
    c_last_name: Text


class CustomerAddress(sd.Schema):
    ca_address_sk: Key
    ca_state: Text
    ca_gmt_offset: sd.Nullable[sd.Decimal[L[5], L[2]]]


class CustomerDemographics(sd.Schema):
    cd_demo_sk: Key
    cd_gender: Text
    cd_marital_status: Text
    cd_dep_count: Number
    cd_dep_employed_count: Number
    cd_dep_college_count: sd.Nullable[sd.I32]


class Store(sd.Schema):
    s_store_sk: Key
    s_store_id: Text
    s_store_name: Text
    s_state: Text
    s_gmt_offset: sd.Nullable[sd.Decimal[L[5], L[2]]]


class Warehouse(sd.Schema):
    w_warehouse_sk: Key
    w_state: Text


class Reason(sd.Schema):
    r_reason_sk: Key


store_sales = sd.read_named("store_sales", StoreSales)
catalog_sales = sd.read_named("catalog_sales", CatalogSales)
catalog_returns = sd.read_named("catalog_returns", CatalogReturns)
web_sales = sd.read_named("web_sales", WebSales)
date_dim = sd.read_named("date_dim", DateDim)
item = sd.read_named("item", Item)
customer = sd.read_named("customer", Customer)
customer_address = sd.read_named("customer_address", CustomerAddress)
customer_demographics = sd.read_named("customer_demographics", CustomerDemographics)
store = sd.read_named("store", Store)
warehouse = sd.read_named("warehouse", Warehouse)
reason = sd.read_named("reason", Reason)

TABLES: dict[str, sd.Relation] = {
    "store_sales": store_sales,
    "catalog_sales": catalog_sales,
    "catalog_returns": catalog_returns,
    "web_sales": web_sales,
    "date_dim": date_dim,
    "item": item,
    "customer": customer,
    "customer_address": customer_address,
    "customer_demographics": customer_demographics,
    "store": store,
    "warehouse": warehouse,
    "reason": reason,
}
